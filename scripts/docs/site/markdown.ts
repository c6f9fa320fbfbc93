import MarkdownIt from 'markdown-it'
import { escaped, type Html, raw } from './html.ts'

const md = new MarkdownIt({ html: false })

/** The anchor of a heading, as links of the guide write it. */
export const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .trim()
    .replace(/\s+/g, '-')

md.renderer.rules.heading_open = (tokens, i) => {
  const { tag } = tokens[i]!
  const anchor = anchorOf(tokens[i + 1]!.content)
  return tag === 'h1' ? '<h1>' : `<${tag} id="${anchor}"><a href="#${anchor}">`
}
md.renderer.rules.heading_close = (tokens, i) =>
  tokens[i]!.tag === 'h1' ? '</h1>\n' : `</a></${tokens[i]!.tag}>\n`

// What is wider than the page scrolls by itself, and by keyboard only if it can have the focus.
md.renderer.rules.fence = (tokens, i) => codeBlock(tokens[i]!.content, tokens[i]!.info).html
md.renderer.rules.table_open = () => `${WIDE}<table>\n`
md.renderer.rules.table_close = () => '</table></div>\n'

// A header that says nothing heads nothing: above the first column mostly.
md.renderer.rules.th_open = (tokens, i) =>
  tokens[i + 1]!.content === '' ? '<td>' : '<th scope="col">'
md.renderer.rules.th_close = (tokens, i) => (tokens[i - 1]!.content === '' ? '</td>' : '</th>')

/** Around a table, which may be wider than the page. */
export const WIDE = '<div class="wide" role="group" aria-label="Table" tabindex="0">'

/** A block of code. */
export const codeBlock = (text: string, language = ''): Html =>
  raw(
    `<pre class="${escaped(language)}" tabindex="0"><code>${escaped(text.trimEnd())}</code></pre>\n`,
  )

/** Markdown as markup. */
export const rendered = (markdown: string): Html => raw(md.render(markdown))

/** One paragraph of Markdown as markup, without the paragraph. */
export const inline = (markdown: string): Html => raw(md.renderInline(markdown))

/** What Markdown says, without its marks: for places where there are none. */
export const plain = (markdown: string) =>
  markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
