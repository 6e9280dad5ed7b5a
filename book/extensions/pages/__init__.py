"""What a page of the book is made of beside its text."""
