import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { assertAgreement } from './agreement/agree.ts'
import { bodies, largest, MALFORMED, matchesSchemas } from './agreement/bodies.ts'
import { disagreement } from './agreement/compare.ts'
import { checkAnswer, faultsOf, type Target } from './agreement/faults.ts'
import { FORMATS } from './agreement/formats.ts'
import { recordsOf } from './agreement/records.ts'
import { readSchemaValidator, type Schema, typeOf } from './agreement/schemas.ts'
import { type Service, startService } from './agreement/service.ts'

// A JSON Schema validator and the service validate the same generated records, the service over HTTP,
// and must agree: the committed schemas describe what the service accepts.

const SEED = Number(process.env.TEST_SEED ?? 3)
const RECORDS = Number(process.env.FC_RECORDS ?? 500)
/** The records of resources whose rules all break sooner; FC_RECORDS sets both numbers. */
const FEWER_RECORDS = Number(process.env.FC_RECORDS ?? 200)

const target = (file: string, resource: string): Target => ({
  file,
  vertical: file.split('/')[0]!,
  resource,
  validator: readSchemaValidator(file),
})

const TARGETS = [
  target('prop-trading/customer', 'customers'),
  target('prop-trading/transaction', 'transactions'),
  target('prop-trading/trading-activity', 'trading-activity'),
  target('forex/customer', 'customers'),
  target('forex/transaction', 'transactions'),
  target('forex/trading-activity', 'trading-activity'),
  target('igaming/customer', 'customers'),
  target('igaming/activity', 'activities'),
]

/** The maximum number of runs for the rules of a resource; nearly always one is enough. */
const MAX_RUNS = 5

/** The rules in `x-rules` that no generated record breaks; most depend on more than the record. */
const NOT_BROKEN = [
  'duplicate_key', // compared separately: see `faultsOf`
  'unknown_affiliate', // a warning by default
  'unknown_customer', // the record is held, so that other errors are visible
  'required', // no event definition here requires `eventid`
  'no_kpi', // only events with a definition
  'Day date', // the validator checks the format with its calendar
  '* type', // only events with a definition
  '* length', // only events with a definition
]

/** Returns each rule that a schema cannot express, with its type: `Money digits`. */
function rulesOf({ properties = {}, $defs = {}, additionalProperties, ...top }: Schema): string[] {
  const extra = typeof additionalProperties === 'object' ? additionalProperties : {}
  const types = new Set(Object.values(properties).map(typeOf))
  const named: [string, Schema][] = [...types].flatMap((type) =>
    type === null ? [] : [[`${type} `, $defs[type]!]],
  )
  return [['', top] as const, ['* ', extra] as const, ...named].flatMap(([name, schema]) =>
    Object.keys(schema['x-rules'] ?? {}).map((code) => name + code),
  )
}

describe('schemas and service agree', { timeout: 600_000 }, () => {
  let service: Service
  before(async () => {
    console.log(`TEST_SEED=${SEED} FC_RECORDS=${RECORDS}`)
    service = await startService()
  })
  after(() => service?.end())

  for (const resource of TARGETS) {
    const count = /transaction|igaming.activity/.test(resource.file) ? RECORDS : FEWER_RECORDS
    test(`schema and service agree on ${count} records of ${resource.file}`, async () => {
      const { schema } = resource.validator
      const expected = rulesOf(schema).filter((rule) => !NOT_BROKEN.includes(rule))
      const used = new Set<string>()
      // Any new field changes which records are drawn. A rule that none of them breaks gets further ones.
      for (let run = 0; run < MAX_RUNS && (run === 0 || used.size < expected.length); run += 1) {
        await assertAgreement(service, resource, recordsOf(schema), {
          seed: SEED + run,
          count,
          used,
        })
      }
      assert.deepEqual([...used].sort(), expected.sort(), 'x-rules that the service needed')
    })
  }

  test('schema and service agree on events with a definition, except for its `product`', async () => {
    const activity = TARGETS.at(-1)!
    const { schema } = activity.validator
    const eventname = { enum: ['DailyStats'] }
    const records = recordsOf({ ...schema, properties: { ...schema.properties, eventname } })
    const others = records.filter((text) => !text.includes('"product":'))
    const used = new Set<string>()
    await assertAgreement(service, activity, others, {
      seed: SEED,
      count: FEWER_RECORDS,
      used,
    })
    assert.ok(used.has('no_kpi'), [...used].join())
  })

  for (const { description, type, ...lists } of FORMATS) {
    test(`schema and service agree on each ${description} of the table`, async () => {
      const rows = Object.entries(lists).flatMap(([list, values]) =>
        values.map((value) => ({ list, value })),
      )
      for (const { owner, name } of fieldsOf(type)) {
        const example = owner.validator.schema.examples![0]!
        const isDaily = type === 'Day'
        const records = rows.map(({ value }, i) => {
          const key = owner.validator.schema['x-key']!.find((member) => member !== name)
          const ownKey = key && !isDaily ? { [key]: `row-${i}` } : {}
          return JSON.stringify({ ...example, ...ownKey, [name]: value })
        })
        const faults = await faultsOf(service, owner, records)
        for (const [i, { list, value }] of rows.entries()) {
          // A brand may send null for an optional member.
          if (value === null && owner.vertical === 'igaming') continue
          const label = `${owner.file} ${name}: ${value}`
          assert.equal(disagreement(owner.validator, records[i]!, faults[i]!), null, label)
          assert.equal(faults[i]!.length === 0, list === 'valid', label)
          const isAllowed = owner.validator.validate(JSON.parse(records[i]!))
          assert.equal(isAllowed, list !== 'invalid', label)
        }
      }
    })
  }

  const bulk = readSchemaValidator('bulk')
  for (const { file, vertical, resource, validator } of TARGETS) {
    const example = validator.schema.examples![0]!
    const key =
      validator.schema['x-key']![0] === 'date' ? 'instrument' : validator.schema['x-key']![0]!

    test(`schema and service agree on whole bodies of ${file}`, async () => {
      const compare = async (body: unknown) => {
        const answer = await service.post(vertical, resource, JSON.stringify(body))
        checkAnswer(answer)
        const { status } = answer
        const accepted = matchesSchemas(body, vertical, bulk, validator)
        assert.equal(status < 300, accepted, `${status}: ${JSON.stringify(body).slice(0, 1000)}`)
        if (!accepted) assert.equal(status, 422)
      }
      await fc.assert(fc.asyncProperty(bodies(example, key), compare), { seed: SEED, numRuns: 8 })
      // Partners and brands have one limit each, whatever the resource.
      if (/^(forex.transaction|igaming.activity)$/.test(file))
        for (const body of largest(example, key)) await compare(body)
      for (const text of MALFORMED) {
        const answer = await service.post(vertical, resource, text)
        checkAnswer(answer)
        assert.deepEqual([text, answer.status], [text, 400])
      }
    })
  }

  test('the schemas accept what lists return', async () => {
    const list = readSchemaValidator('list')
    for (const { file, vertical, resource, validator } of TARGETS) {
      const example = validator.schema.examples![0]!
      const sent = await service.post(vertical, resource, JSON.stringify(example), { dry: false })
      checkAnswer(sent)
      assert.equal(sent.status, 201, file)
      const { status, body } = await service.get(vertical, resource)
      assert.deepEqual([status, list.validate(body)], [200, true], file)
      assert.ok(body.data.length > 0, file)
      assert.ok(
        body.data.every((record: unknown) => validator.validate(record)),
        `${file}: ${JSON.stringify(validator.validate.errors)}`,
      )
      const wrong = await service.get(vertical, `${resource}?page=0`)
      checkAnswer(wrong)
      assert.equal(wrong.status, 400)
    }
  })
})

/** Returns all members of a type, with their resources. */
const fieldsOf = (type: string) =>
  TARGETS.flatMap((owner) =>
    Object.entries(owner.validator.schema.properties!)
      .filter(([, member]) => typeOf(member) === type)
      .map(([name]) => ({ owner, name })),
  )
