import { readdirSync, readFileSync } from 'node:fs'
import { type Html, html } from './html.ts'
import { anchorOf, plain, rendered } from './markdown.ts'

/** The pages of the guide in reading order, by what their readers do. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  'Send records': [
    'start',
    'tokens',
    'sending',
    'outcomes',
    'warnings',
    'resending',
    'errors',
    'reading',
    'reconciling',
    'reports',
    'brands',
    'track360',
    'links',
    'webhooks',
    'email',
    'going-live',
    'changes',
  ],
  'Pay affiliates': [
    'month',
    'members',
    'team',
    'sign-up',
    'statements',
    'closing',
    'paying',
    'invoices',
    'affiliates',
  ],
}

/** A page of the guide. */
export interface GuidePage {
  /** The address, such as `/docs/start`. */
  at: string
  /** What its readers do. */
  part: string
  title: string
  description: string
  headings: readonly { title: string; anchor: string }[]
  /** The page as Markdown. */
  markdown: string
  /** The page as markup, without the title. */
  body: Html
}

/** Makes the links of a Markdown page lead to Markdown pages. The reference has none. */
const toMarkdownLinks = (markdown: string) =>
  markdown.replace(/\]\((\/docs\/(?!reference\b)[\w-]+)(#[\w-]+)?\)/g, ']($1.md$2)')

/** The address of a picture in the repository. The site has it among its assets. */
const PICTURE = /\]\(\.\.\/[\w/]+\/([\w-]+\.webp)\)/g

/** Reads a page of the guide. Throws if the page lacks a required part. */
function guidePage(part: string, name: string, file: string): GuidePage {
  const source = file.replace(PICTURE, '](/assets/$1)')
  const [, title = '', paragraph = '', rest = ''] =
    /^# (.+)\n\n([^\n#`<|-][\s\S]*?)\n\n([\s\S]*)$/.exec(source) ?? []
  if (title === '') throw new Error(`docs/guide/${name}.md must begin with a title and a paragraph`)
  const headings = [...rest.matchAll(/^## (.+)$/gm)].map(([, text = '']) => ({
    title: plain(text),
    anchor: anchorOf(text),
  }))
  return {
    at: `/docs/${name}`,
    part,
    title,
    description: plain(paragraph),
    headings,
    markdown: toMarkdownLinks(source),
    body: html`<div class="lead">${rendered(paragraph)}</div>\n${rendered(rest)}`,
  }
}

/** Reads all pages of the guide. Throws if the reading order lacks one. */
export function guide(folder = 'docs/guide'): GuidePage[] {
  const listed = Object.values(PARTS).flat()
  const files = readdirSync(folder).map((file) => file.replace(/\.md$/, ''))
  const unlisted = files.filter((name) => !listed.includes(name))
  if (unlisted.length > 0) {
    throw new Error(`${folder}: add ${unlisted.join(', ')} to PARTS in site/guide.ts`)
  }
  return Object.entries(PARTS).flatMap(([part, names]) =>
    names.map((name) => guidePage(part, name, readFileSync(`${folder}/${name}.md`, 'utf8'))),
  )
}
