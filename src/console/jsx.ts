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
  return html`${start}>${children}${raw(`</${tag}>`)}`
}

/** Renders children without an element around them. */
export const Fragment = ({ children }: Props): JSX.Element => html`${children}`

// The compiler calls these for elements with several children, and in development.
export { jsx as jsxDEV, jsx as jsxs }
