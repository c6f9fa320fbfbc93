import { html, raw } from 'hono/html'
import type { JSX } from 'hono/jsx/jsx-runtime'

// The JSX runtime of the pages, which the compiler imports as `#jsx/jsx-runtime`. It renders each
// element at once, without the contexts, hooks and streams of `hono/jsx`. `html` escapes all text.

export type { JSX } from 'hono/jsx/jsx-runtime'

type Props = Readonly<Record<string, unknown>>
type Component = (props: Props) => JSX.Element

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** The elements without content and end tag. */
const VOID_ELEMENTS = words('area base br col embed hr img input link meta source track wbr')

/** The attributes that are true if they are present. Others have a text: `aria-hidden="true"`. */
const BOOLEAN_ATTRIBUTES = words(
  'async autofocus checked controls default defer disabled formnovalidate hidden inert loop multiple muted nomodule novalidate open readonly required reversed selected',
)

/**
 * Invisible characters, such as those that change the direction of text, and spaces that look like an
 * ordinary space. With them, an id could look like another id.
 */
const INVISIBLE = /(?![ \t\n\r])[\p{DI}\p{Z}\p{Cc}]/gu

const escapeOf = (character: string) =>
  `\\u${character.codePointAt(0)?.toString(16).padStart(4, '0')}`

/** Replaces the invisible characters of texts by their codes, such as `\u202e`. */
function visible(child: unknown): unknown {
  if (Array.isArray(child)) return child.map(visible)
  return typeof child === 'string' ? child.replace(INVISIBLE, escapeOf) : child
}

function renderAttribute(name: string, value: unknown) {
  if (value === undefined || value === null) return ''
  if (typeof value === 'boolean' && BOOLEAN_ATTRIBUTES.has(name)) {
    return value && raw(` ${name}=""`)
  }
  return html` ${raw(name)}="${String(value)}"`
}

/** Renders an element, or calls a component. A name of an element or attribute must be a constant. */
export function jsx(tag: string | Component, props: Props): JSX.Element {
  if (typeof tag === 'function') return tag(props)
  const { children, ...attributes } = props
  const start = [
    raw(`<${tag}`),
    ...Object.entries(attributes).map(([name, value]) => renderAttribute(name, value)),
  ]
  if (VOID_ELEMENTS.has(tag)) return html`${start}/>`
  const content = tag === 'textarea' ? children : visible(children)
  return html`${start}>${content}${raw(`</${tag}>`)}`
}

/** Renders children without an element around them. */
export const Fragment = ({ children }: Props): JSX.Element => html`${visible(children)}`

// The compiler calls these for elements with several children, and in development.
export { jsx as jsxDEV, jsx as jsxs }
