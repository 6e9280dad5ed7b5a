// What the bundler makes of `import text from "./style.css?inline"`.
declare module "*?inline" {
  const text: string;
  export default text;
}
