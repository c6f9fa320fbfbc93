import { readdirSync, readFileSync } from 'node:fs'
import { type Html, html } from './html.ts'
import { anchorOf, plain, rendered } from './markdown.ts'
import { TABLES, tableAsHtml, tableAsMarkdown } from './tables.ts'

/** The pages of the guide, in the order in which they are read. */
const ORDER = [
  'start',
  'tokens',
  'sending',
  'outcomes',
  'resending',
  'errors',
  'rate',
  'reading',
  'reconciling',
  'brands',
  'links',
  'going-live',
  'changes',
]

/** A page of the guide. */
export interface GuidePage {
  name: string
  /** Where it is: `/docs/start`. */
  at: string
  title: string
  description: string
  headings: readonly { title: string; anchor: string }[]
  /** As Markdown, its tables filled in. */
  markdown: string
  /** As markup, without the title. */
  body: Html
}

const PLACEHOLDER = /^<!-- table: (.*) -->$/m

/** The links of a twin lead to twins: who reads Markdown goes on reading Markdown. */
const toTwins = (markdown: string) =>
  markdown.replace(/\]\((\/(?:docs|problems)\/[\w-]+)(#[\w-]+)?\)/g, ']($1.md$2)')

/** Reads a page; what it must have and has not fails the build. */
export function guidePage(name: string, source: string): GuidePage {
  const fail = (why: string): never => {
    throw new Error(`docs/guide/${name}.md: ${why}`)
  }
  const [, title = '', paragraph = '', rest = ''] =
    /^# (.+)\n\n([^\n#`<|-][\s\S]*?)\n\n([\s\S]*)$/.exec(source) ?? []
  if (title === '') fail('it must begin with a title and a paragraph of its own')
  const headings = [...rest.matchAll(/^## (.+)$/gm)].map(([, text = '']) => ({
    title: plain(text),
    anchor: anchorOf(text),
  }))
  const anchors = [...rest.matchAll(/^##+ (.+)$/gm)].map(([, text = '']) => anchorOf(text))
  const twice = anchors.find((anchor, i) => anchors.indexOf(anchor) !== i)
  if (twice !== undefined) fail(`two headings have the anchor "${twice}"`)
  // Every second part is the name of a table.
  const parts = rest.split(new RegExp(PLACEHOLDER, 'm'))
  const table = (called: string) =>
    TABLES[called] ?? fail(`there is no table "${called}", but ${Object.keys(TABLES).join(', ')}`)
  const filled = parts.map((part, i) => (i % 2 ? tableAsMarkdown(table(part)) : part)).join('')
  const body = parts.map((part, i) => (i % 2 ? tableAsHtml(table(part)) : rendered(part)))
  if (/<!--/.test(filled)) fail('it has a comment that is no placeholder')
  return {
    name,
    at: `/docs/${name}`,
    title,
    description: plain(paragraph),
    headings,
    markdown: toTwins(`# ${title}\n\n${paragraph}\n\n${filled}`),
    body: html`<div class="lead">${rendered(paragraph)}</div>\n${body}`,
  }
}

/** All pages of the guide; a file that is not in the order, or the other way round, is refused. */
export function guide(folder = 'docs/guide'): GuidePage[] {
  const files = readdirSync(folder).map((file) => file.replace(/\.md$/, ''))
  const unlisted = files.filter((name) => !ORDER.includes(name))
  const missing = ORDER.filter((name) => !files.includes(name))
  if (unlisted.length > 0) {
    throw new Error(`${folder}: ${unlisted.join(', ')} is not in the order (site/guide.ts)`)
  }
  if (missing.length > 0) throw new Error(`${folder}: ${missing.join(', ')}.md is not there`)
  return ORDER.map((name) => guidePage(name, readFileSync(`${folder}/${name}.md`, 'utf8')))
}
