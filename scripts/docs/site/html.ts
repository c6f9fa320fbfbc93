/** Markup that may stand as it is; any other text is escaped. */
export interface Html {
  html: string
}

/** What may stand in a template: nothing is written of what is absent or false. */
export type Part = string | number | Html | false | null | undefined | readonly Part[]

/** Takes text for markup: for what a renderer has escaped. */
export const raw = (text: string): Html => ({ html: text })

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Text, as it is written in markup and in the quotes of an attribute. */
export const escaped = (text: string) => text.replace(/[&<>"]/g, (found) => ENTITIES[found]!)

function written(part: Part): string {
  if (part === false || part === null || part === undefined) return ''
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part))
  return 'html' in part ? part.html : part.map(written).join('')
}

/** A template of markup; whatever is put into it is escaped, unless it is markup itself. */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  raw(String.raw({ raw: strings }, ...parts.map(written)))
