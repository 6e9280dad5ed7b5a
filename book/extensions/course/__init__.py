"""Pages for teachers: what each chapter needs, how long it takes, its exercises."""
