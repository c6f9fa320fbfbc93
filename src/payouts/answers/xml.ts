import { SaxesParser } from 'saxes'
import { refused, type Stated, stated } from './row.ts'

/** An element, by its local name. */
export interface Element {
  readonly name: string
  readonly currency: string | null
  text: string
  readonly children: Element[]
}

/** The deepest nesting, the longest text, and the most elements at a time: ISO 20022 stays far below. */
const MAX_DEPTH = 24
const MAX_TEXT = 4000
const MAX_ELEMENTS = 100_000

/** How much is read at a time. The parser collects a tag, a text or a comment, which within this has to come to its end. */
const CHUNK = 65_536

/** What is done with an element at its end, by its name. */
export type Handlers = Readonly<
  Record<string, (element: Element, parent: Element | undefined) => void>
>

/**
 * Reads XML. An element with a handler is forgotten once it is handled, so that the memory does not grow with the file.
 *
 * @param handlersOf Returns the handlers of a kind of file by the name of its first element, or of the one within it.
 * @throws ApiError `validation_failed` for XML that is not well-formed or too large, and for a DOCTYPE: entities could
 * read files, or fill the memory ("XXE", "billion laughs").
 */
export function readXml(text: string, handlersOf: (name: string) => Handlers | undefined): void {
  const parser = new SaxesParser()
  const path: Element[] = []
  let handlers: Handlers = {}
  let kept = 0
  let isStuck = false
  const refuse = (reason: string) => {
    throw refused(`The XML cannot be read. ${reason}`)
  }
  parser.on('error', () => refuse(`It is not well-formed in line ${parser.line}.`))
  parser.on('doctype', () => refuse('It has a DOCTYPE, which no answer of a bank has.'))
  parser.on('opentag', ({ name, attributes }) => {
    isStuck = false
    const local = name.slice(name.indexOf(':') + 1)
    const element = { name: local, currency: attributes.Ccy ?? null, text: '', children: [] }
    if (path.length < 2) handlers = handlersOf(local) ?? handlers
    kept += 1
    if (path.length >= MAX_DEPTH || kept > MAX_ELEMENTS) refuse('An element of it is too large.')
    path[0]?.children.push(element)
    path.unshift(element)
  })
  const addText = (text: string) => {
    isStuck = false
    const [element] = path
    if (element && element.text.length < MAX_TEXT) element.text += text.slice(0, MAX_TEXT)
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', () => {
    const element = path.shift()
    if (!element || !Object.hasOwn(handlers, element.name)) return
    const [parent] = path
    handlers[element.name]?.(element, parent)
    parent?.children.pop()
    kept -= sizeOf(element)
  })
  const trimmed = text.trim()
  for (let at = 0; at < trimmed.length; at += CHUNK) {
    if (isStuck) refuse('An element of it is too large.')
    isStuck = true
    parser.write(trimmed.slice(at, at + CHUNK))
  }
  parser.close()
}

const sizeOf = ({ children }: Element): number =>
  children.reduce((size, one) => size + sizeOf(one), 1)

/** Returns the elements at a path of names below an element, such as `Refs/EndToEndId`. */
export function allAt(element: Element | undefined, path: string): Element[] {
  let found = element ? [element] : []
  for (const name of path.split('/')) {
    if (found.length === 0) return found
    found = found.flatMap(({ children }) => children.filter((one) => one.name === name))
  }
  return found
}

/** Returns the text at the first of some paths that has one; null if none has. */
export const textAt = (element: Element | undefined, ...paths: readonly string[]): string | null =>
  paths.flatMap((path) => allAt(element, path).map(({ text }) => text.trim())).find(Boolean) ?? null

/** Returns the amounts at some paths. */
export const amountsAt = (element: Element | undefined, ...paths: readonly string[]): Stated[] =>
  paths
    .flatMap((path) => allAt(element, path))
    .map(({ text, currency }) => stated(text.trim(), currency))

/** Returns all texts of an element and of those in it. */
export const textsIn = ({ text, children }: Element): string[] =>
  [text].concat(children.flatMap(textsIn))
