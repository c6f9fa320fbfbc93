import MiniSearch, { type Options } from 'minisearch'
import { addressOfCode, EXPLAINED, type Noun } from '../explained.ts'
import type { GuidePage } from './guide.ts'
import { anchorOf, plain } from './markdown.ts'
import { addressOf, endpointsOf, PAGES, schemasOf } from './reference/pages.ts'
import { parametersOf } from './reference/sample.ts'
import type { Schema, Spec } from './spec.ts'

// MiniSearch builds the index here and searches it in the browser. It has no dependencies, needs no
// service and matches prefixes and misspellings.

/** A section of a page, as the index holds it. */
interface Entry {
  /** The address of the section. */
  id: string
  title: string
  /** The page that contains the section. */
  page: string
  text: string
  excerpt: string
}

const EXCERPT_LENGTH = 140

/** Terms that readers use for what the pages call by another name. */
const SYNONYMS: readonly (readonly [RegExp, string])[] = [
  [/first[ -](time )?deposit|first_deposit/i, 'FTD'],
  [/time zone/i, 'timezone'],
  [/personal data|erasure/i, 'GDPR'],
  [/percentage of a base|`share`/i, 'revshare'],
  [/webhook/i, 'postback'],
  [/test account/i, 'sandbox'],
]

function entry(id: string, title: string, page: string, text: string): Entry {
  const words = plain(text)
  const cut = words.length > EXCERPT_LENGTH ? `${words.slice(0, EXCERPT_LENGTH)}…` : words
  const synonyms = SYNONYMS.flatMap(([pattern, synonym]) => (pattern.test(text) ? [synonym] : []))
  return { id, title, page, text: [words, ...synonyms].join(' '), excerpt: cut }
}

const TABLE = /^\|.*$/gm

/** Splits a page of the guide at its headings. Rows that explain codes are entries of their own. */
function guideEntries({ at, title, markdown }: GuidePage): Entry[] {
  const [start = '', ...sections] = markdown.replace(TABLE, '').split(/^## /m)
  return [
    entry(at, title, 'Guide', start.replace(/^# .*$/m, '')),
    ...sections.map((section) => {
      const [heading = '', ...lines] = section.split('\n')
      return entry(`${at}#${anchorOf(heading)}`, plain(heading), title, lines.join('\n'))
    }),
  ]
}

const codeEntries = (): Entry[] =>
  Object.entries(EXPLAINED).flatMap(([noun, rows]) =>
    Object.entries(rows).map(([code, cells]) =>
      entry(addressOfCode(noun as Noun, code), code, `Codes: ${noun}`, cells.join(' ')),
    ),
  )

/** Returns the names and descriptions of the members of a schema and of its alternatives. */
const memberText = ({ properties = {}, anyOf = [], oneOf = [] }: Schema): string =>
  [
    ...Object.entries(properties).map(([name, { description = '' }]) => `${name} ${description}`),
    ...[...anyOf, ...oneOf].map(memberText),
  ].join(' ')

/** Lists the operations and schemas of the reference. Those on several pages appear for each page. */
function referenceEntries(spec: Spec): Entry[] {
  return PAGES.flatMap((page) => {
    const at = addressOf(page)
    const operations = endpointsOf(page, spec).map(({ path, method, operation }) => {
      const names = parametersOf(operation, spec).map(({ name }) => name)
      const { operationId, description } = operation
      const text = `${description} ${method.toUpperCase()} ${path} ${operationId} ${names.join(' ')}`
      return entry(`${at}#${operationId}`, operation.summary, page.title, text)
    })
    const schemas = schemasOf(page, spec).map(([name, schema]) =>
      entry(
        `${at}#schema-${name}`,
        name,
        `${page.title}: schemas`,
        `${schema.description ?? ''} ${memberText(schema)}`,
      ),
    )
    return [...operations, ...schemas]
  })
}

const OPTIONS: Options<Entry> = {
  fields: ['title', 'text'],
  storeFields: ['title', 'page', 'excerpt'],
  searchOptions: { boost: { title: 4 }, prefix: true, combineWith: 'AND' },
}

/** Builds the search index of all pages, with the options that `search.js` loads it with. */
export function searchIndex(guide: readonly GuidePage[], spec: Spec) {
  const index = new MiniSearch(OPTIONS)
  index.addAll([...guide.flatMap(guideEntries), ...codeEntries(), ...referenceEntries(spec)])
  return { options: OPTIONS, index }
}
