/**
 * Markdown as elements. Only the kinds of text listed here become elements, so HTML in the text stays text, and nothing is ever
 * parsed as HTML. Links lead to web pages and to nodes (`[R1](#R1)`); pictures, which would be fetched from other sites, become
 * links. Blocks of lines for a console and names in code marks become buttons.
 */
import { lexer, type Token, type Tokens } from 'marked';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { RunLines } from './run-lines.tsx';
import { ShownName } from './shown-name.tsx';
import { StepMark, StepProblem } from './step-mark.tsx';

interface MarkdownProps {
  readonly text: string;
  /** Returns the function that shows a node when its link is clicked; undefined: there is no such node. */
  readonly openNode: (name: string) => (() => void) | undefined;
}

/** Longer texts are shown as they are: of a hostile one the parser reads this much in a second or two, and twice of it in four times that. Characters. */
const longest = 30_000;
/** Deeper lists and quotes are shown as they are. */
const deepest = 30;

export function Markdown({ text, openNode }: MarkdownProps) {
  const tokens = useMemo(() => (text.length > longest ? undefined : tokensOf(text)), [text]);
  if (!tokens) return <pre class="markdown">{text}</pre>;
  return <div class="markdown">{render(tokens, { openNode, depth: 0, isLink: false })}</div>;
}

/** Undefined: the text is nested too deep for the parser. */
function tokensOf(text: string): readonly Token[] | undefined {
  try {
    return lexer(text);
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

interface Place {
  readonly openNode: MarkdownProps['openNode'];
  readonly depth: number;
  /** Inside a link, which is a button itself. */
  readonly isLink: boolean;
}

/** A block of lines for a console: its info string is `console NODE`. */
const consoleInfo = /^console\s+(\S.*)$/;

function render(tokens: readonly Token[] | undefined, place: Place): ComponentChildren {
  if (place.depth > deepest) return tokens?.map(({ raw }) => raw).join('');
  const inner = { ...place, depth: place.depth + 1 };
  return tokens?.map((token) => elementOf(token, (some, isLink = inner.isLink) => render(some, { ...inner, isLink }), inner));
}

type RenderTokens = (tokens: readonly Token[] | undefined, isLink?: boolean) => ComponentChildren;

function elementOf(token: Token, inside: RenderTokens, { openNode, isLink }: Place): ComponentChildren {
  switch (token.type) {
    case 'heading':
      return heading(token as Tokens.Heading, inside);
    case 'paragraph':
      return <p>{inside(token.tokens)}</p>;
    case 'blockquote':
      return <blockquote>{inside(token.tokens)}</blockquote>;
    case 'list':
      return list(token as Tokens.List, inside);
    case 'table':
      return table(token as Tokens.Table, inside);
    case 'code':
      return code(token as Tokens.Code);
    case 'hr':
      return <hr />;
    case 'strong':
      return <strong>{inside(token.tokens)}</strong>;
    case 'em':
      return <em>{inside(token.tokens)}</em>;
    case 'del':
      return <s>{inside(token.tokens)}</s>;
    case 'codespan':
      return isLink ? <code>{(token as Tokens.Codespan).text}</code> : <ShownName text={(token as Tokens.Codespan).text} />;
    case 'br':
      return <br />;
    case 'link':
      return link(token as Tokens.Link, inside(token.tokens, true), openNode);
    case 'image':
      return link(token as Tokens.Image, (token as Tokens.Image).text, openNode);
    case 'text':
      return token.tokens ? inside(token.tokens) : (token as Tokens.Text).text;
    case 'escape':
      return (token as Tokens.Escape).text;
    case 'space':
    case 'def':
    case 'checkbox':
      return null;
    default:
      return token.raw;
  }
}

function code({ lang = '', text }: Tokens.Code): ComponentChildren {
  const name = consoleInfo.exec(lang.trim())?.[1];
  return name === undefined ? <pre>{text}</pre> : <RunLines name={name} text={text} />;
}

/** The pane has the first level. */
function heading({ depth, tokens }: Tokens.Heading, inside: RenderTokens): ComponentChildren {
  const content = inside(tokens);
  if (depth === 1) return <h3 class="first">{content}</h3>;
  return depth === 2 ? <h4>{content}</h4> : <h5>{content}</h5>;
}

function list({ ordered, start, items }: Tokens.List, inside: RenderTokens): ComponentChildren {
  const rows = items.map((item) => (
    <li>
      {item.task && <StepMark text={item.text} isTicked={item.checked === true} />}
      {inside(item.tokens)}
      {item.task && <StepProblem text={item.text} />}
    </li>
  ));
  return ordered ? <ol start={Number(start) || 1}>{rows}</ol> : <ul>{rows}</ul>;
}

function table({ header, rows }: Tokens.Table, inside: RenderTokens): ComponentChildren {
  return (
    <table>
      <thead>
        <tr>
          {header.map(({ tokens }) => (
            <th scope="col">{inside(tokens)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr>
            {row.map(({ tokens }) => (
              <td>{inside(tokens)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function link({ href }: { readonly href: string }, words: ComponentChildren, openNode: Place['openNode']): ComponentChildren {
  const open = href.startsWith('#') ? openNode(decoded(href.slice(1))) : undefined;
  if (open)
    return (
      <button type="button" class="node-link" onClick={open}>
        {words}
      </button>
    );
  if (!/^(https?:\/\/|mailto:)/i.test(href)) return words;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {words}
    </a>
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
