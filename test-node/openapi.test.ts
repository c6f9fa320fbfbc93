import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { AUDIENCE_DOCUMENTS, documentFor } from '../scripts/docs/openapi/audiences.ts'
import type { Media, Spec } from '../scripts/docs/site/spec.ts'

// What linters of OpenAPI ask of the document, and the documents of its audiences.

const spec: Spec = JSON.parse(readFileSync('openapi.json', 'utf8'))

type Node = { readonly [name: string]: unknown }

/** Lists all objects in a document with their JSON pointers. */
const nodesOf = (value: unknown, at = '#'): [pointer: string, node: Node][] =>
  typeof value !== 'object' || value === null
    ? []
    : [
        [at, value as Node],
        ...Object.entries(value).flatMap(([name, one]) =>
          nodesOf(one, `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
        ),
      ]

const idsOf = ({ paths }: Pick<Spec, 'paths'>) =>
  Object.values(paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  )

describe('openapi.json', () => {
  test('every example of a body is as its schema says', () => {
    const ajv = new Ajv2020({ strict: false, code: { optimize: false }, inlineRefs: false })
    formats.default(ajv)
    ajv.addFormat('idn-email', true)
    ajv.addSchema({ $id: 'openapi', ...spec } as object)
    for (const [pointer, node] of nodesOf(spec)) {
      if (!/\/content\/[^/]+$/.test(pointer) || !node.schema) continue
      for (const [name, { value }] of Object.entries((node as unknown as Media).examples ?? {})) {
        if (value === undefined) continue
        const path = pointer.slice(1).split('/').map(encodeURIComponent).join('/')
        const validate = ajv.getSchema(`openapi#${path}/schema`)
        assert.ok(validate, pointer)
        assert.ok(validate(value), `${pointer} ${name}: ${ajv.errorsText(validate.errors)}`)
      }
    }
  })

  test('every list says of what it is', () => {
    const lists = nodesOf(spec.components.schemas).filter(([, { type }]) => type === 'array')
    assert.ok(lists.length > 0)
    for (const [pointer, { items }] of lists) assert.ok(items, pointer)
  })
})

describe('the documents of audiences', () => {
  const documents = (Object.keys(AUDIENCE_DOCUMENTS) as (keyof typeof AUDIENCE_DOCUMENTS)[]).map(
    (name) => [name, documentFor(spec, name)] as const,
  )

  test('together they have each operation once, each with credentials of its audience alone', () => {
    assert.deepEqual(documents.flatMap(([, one]) => idsOf(one)).sort(), idsOf(spec).sort())
    for (const [name, { paths, components }] of documents) {
      const used = Object.values(paths).flatMap((methods) =>
        Object.values(methods).flatMap(({ security }) => security.flatMap(Object.keys)),
      )
      const { schemes } = AUDIENCE_DOCUMENTS[name]
      assert.deepEqual([...new Set(used)].sort(), [...schemes].sort())
      assert.deepEqual(Object.keys(components.securitySchemes).sort(), [...schemes].sort())
    }
  })

  test('each has exactly the components and tags that its operations name', () => {
    for (const [name, document] of documents) {
      const { securitySchemes: _, ...components } = document.components
      const named = nodesOf(document).flatMap(([, { $ref }]) =>
        typeof $ref === 'string' ? [$ref] : [],
      )
      const kept = Object.entries(components).flatMap(([kind, all]) =>
        Object.keys(all).map((one) => `#/components/${kind}/${one}`),
      )
      assert.deepEqual([...new Set(named)].sort(), kept.sort(), name)
      const tags = Object.values(document.paths).flatMap((methods) =>
        Object.values(methods).map(({ tags }) => tags[0] as string),
      )
      assert.deepEqual([...new Set(tags)].sort(), document.tags.map((tag) => tag.name).sort())
    }
  })
})
