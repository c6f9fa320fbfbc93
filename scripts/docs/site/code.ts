import { escaped, type Html, html, raw } from './html.ts'

/** Returns JSON with line breaks. Text that is not valid JSON, such as an excerpt, stays as it is. */
function formatJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** Renders a block of code. The block takes focus, so that the keyboard can scroll it. */
export function codeBlock(text: string, language = ''): Html {
  const source = (language === 'json' ? formatJson(text) : text).trimEnd()
  // A long address wraps after a slash of its path instead of moving to a line of its own.
  const breakable = escaped(source).replace(/(?<![<:/])\/(?=[\w{])/g, '/<wbr>')
  return html`<pre class="${language}" tabindex="0"><code>${raw(breakable)}</code></pre>\n`
}

/** Renders a value as a block of JSON. */
export const jsonBlock = (value: unknown): Html => codeBlock(JSON.stringify(value, null, 2), 'json')
