/** Markup that is safe to insert as it is. All other text is escaped. */
export interface Html {
  html: string
}

/** A value that a template accepts. Absent and false values render as nothing. */
export type Part = string | number | Html | false | null | undefined | readonly Part[]

/** Marks text as markup. The caller must have escaped it. */
export const raw = (text: string): Html => ({ html: text })

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes text for element content and for double-quoted attribute values. */
export const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character)

function render(part: Part): string {
  if (part === false || part === null || part === undefined) return ''
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part))
  return 'html' in part ? part.html : part.map(render).join('')
}

/** Renders a template. Escapes every inserted value that is not markup. */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  raw(String.raw({ raw: strings }, ...parts.map(render)))
