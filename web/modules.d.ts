/** Style sheets are imported for their effect. */
declare module '*.css';

/** The text of a file. */
declare module '*?raw' {
  const text: string;
  export default text;
}
