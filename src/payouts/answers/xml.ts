import { SaxesParser } from 'saxes'

/** An element, by its local name. */
export interface Element {
  readonly name: string
  readonly currency: string | undefined
  text: string
  readonly children: Element[]
}

/** The deepest nesting, and the longest text of an element. Those of ISO 20022 stay far below. */
const MAX_DEPTH = 40
const MAX_TEXT = 4000

/** The most elements within one that is handled. */
const MAX_ELEMENTS = 20_000

/** Why an XML file is refused. The message is for the person who has sent it. */
export class XmlFault extends Error {}

/** What is done with an element at its end, by its name. `path` has the elements around it, the innermost first. */
export type Handlers = Readonly<
  Record<string, (element: Element, path: readonly Element[]) => void>
>

/**
 * Returns a parser of XML that arrives in pieces. An element with a handler is forgotten once it is handled, so that
 * the memory does not grow with the file. `begins` is called with the names of the first and of those within it.
 *
 * @throws XmlFault for XML that is not well-formed or too deep, and for a DOCTYPE: entities could read files, or fill
 * the memory ("XXE", "billion laughs").
 */
export function parseXml(handlers: Handlers, begins: (name: string) => void) {
  const parser = new SaxesParser()
  const path: Element[] = []
  let elements = 0
  const refuse = (reason: string) => {
    throw new XmlFault(reason)
  }
  parser.on('error', () => refuse(`It is not well-formed in line ${parser.line}.`))
  parser.on('doctype', () => refuse('It has a DOCTYPE, which no answer of a bank has.'))
  parser.on('opentag', ({ name, attributes }) => {
    const local = name.slice(name.indexOf(':') + 1)
    const element = { name: local, currency: attributes.Ccy, text: '', children: [] }
    elements += 1
    if (path.length < 2) begins(local)
    if (path.length >= MAX_DEPTH || elements > MAX_ELEMENTS) refuse('An entry of it is too large.')
    path[0]?.children.push(element)
    path.unshift(element)
  })
  const addText = (text: string) => {
    const [element] = path
    if (element && element.text.length < MAX_TEXT) element.text += text.slice(0, MAX_TEXT)
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', () => {
    const element = path.shift()
    if (!element || !Object.hasOwn(handlers, element.name)) return
    handlers[element.name]?.(element, path)
    path[0]?.children.pop()
    elements = 0
  })
  return parser
}

/** Returns the elements at a path of names below an element, such as `Refs/EndToEndId`. */
export const allAt = (element: Element | undefined, path: string): Element[] =>
  path
    .split('/')
    .reduce(
      (found, name) => found.flatMap(({ children }) => children.filter((one) => one.name === name)),
      element ? [element] : [],
    )

/** Returns the text at the first of some paths that has one; null if none has. */
export const textAt = (element: Element | undefined, ...paths: readonly string[]): string | null =>
  paths.flatMap((path) => allAt(element, path).map(({ text }) => text.trim())).find(Boolean) ?? null

/** Returns all text of an element and of those in it. */
export const fullText = ({ text, children }: Element): string =>
  [text.trim(), ...children.map(fullText)].filter(Boolean).join(' ')
