import { readdirSync, readFileSync } from 'node:fs'
import { ORIGIN } from '../../../src/platform/documents/origin.ts'
import { AUDIENCE_DOCUMENTS, type AudienceDocument, documentAddress } from '../openapi/audiences.ts'
import type { GuidePage } from './guide.ts'
import { plain } from './markdown.ts'
import type { Spec } from './spec.ts'

/** Lists the JSON Schemas of the repository with their addresses. */
export const schemaFiles = () =>
  readdirSync('schemas', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => {
      const { title, description } = JSON.parse(readFileSync(`schemas/${name}`, 'utf8'))
      return { at: `/schemas/${name}`, title: String(title), description: String(description) }
    })

const entry = (at: string, title: string, description: string) =>
  `- [${title}](${ORIGIN}${at}): ${plain(description)}`

/**
 * Writes the list of documents for language models.
 * @see [llmstxt.org](https://llmstxt.org)
 */
export const llms = (guide: readonly GuidePage[], spec: Spec) =>
  `# ${spec.info.title}

> ${spec.info.summary}

${plain(spec.info.description.split('\n\n').at(-1) ?? '')}

## Guide

${guide.map(({ at, title, description }) => entry(`${at}.md`, title, description)).join('\n')}

## Reference

${entry('/openapi.json', 'OpenAPI 3.1', 'Every operation with its parameters, bodies and responses.')}
${Object.entries(AUDIENCE_DOCUMENTS)
  .map(([name, { of }]) =>
    entry(
      documentAddress(name as AudienceDocument),
      `OpenAPI for ${of}`,
      `The operations of ${of}.`,
    ),
  )
  .join('\n')}

## Schemas

${schemaFiles()
  .map(({ at, title, description }) => entry(at, title, description))
  .join('\n')}
`
