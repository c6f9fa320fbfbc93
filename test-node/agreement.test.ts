import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { agreeOn } from './agreement/agree.ts'
import { bodies, isTaken, largest, MALFORMED } from './agreement/bodies.ts'
import { disagreement } from './agreement/compare.ts'
import { recordsOf } from './agreement/records.ts'
import { judgeOf, type Schema, typeOf } from './agreement/schemas.ts'
import { type Service, startService } from './agreement/service.ts'
import { checkAnswer, faultsOf, type Target } from './agreement/verdicts.ts'
import { TABLES } from './agreement/wrong.ts'

// The committed schemas, judged by a validator that knows nothing of the service, and the service
// itself judge the same records over HTTP, and agree: what the schemas say is what is done.

const SEED = Number(process.env.TEST_SEED ?? 3)
const RECORDS = Number(process.env.FC_RECORDS ?? 1500)

const target = (file: string, resource: string): Target => ({
  file,
  vertical: file.split('/')[0]!,
  resource,
  judge: judgeOf(file),
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

/** What of `x-rules` no generated record breaks: most of it is not for a record alone to break. */
const NOT_MET = [
  'duplicate_key', // compared apart: see `faultsOf`
  'unknown_affiliate', // a warning, as accounts have it by default
  'unknown_customer', // held: so that it hides nothing else
  'required', // no event definition here asks for `eventid`
  'no_kpi', // only events with a definition
  'Day date', // formats are asserted here, and know the calendar
  '* type', // only events with a definition
  '* length', // only events with a definition
]

/** Each rule that a schema cannot say, with the type that it is of: `Money digits`. */
function unsaid({ properties = {}, $defs = {}, additionalProperties, ...top }: Schema): string[] {
  const others = typeof additionalProperties === 'object' ? additionalProperties : {}
  const types = new Set(Object.values(properties).map(typeOf))
  const named: [string, Schema][] = [...types].flatMap((type) =>
    type === null ? [] : [[`${type} `, $defs[type]!]],
  )
  return [['', top] as const, ['* ', others] as const, ...named].flatMap(([name, schema]) =>
    Object.keys(schema['x-rules'] ?? {}).map((code) => name + code),
  )
}

describe('schemas and service agree', { timeout: 180_000 }, () => {
  let service: Service
  before(async () => {
    console.log(`TEST_SEED=${SEED} FC_RECORDS=${RECORDS}`)
    service = await startService()
  })
  after(() => service?.end())

  for (const one of TARGETS) {
    test(`schema and service agree on ${RECORDS} records of ${one.file}`, async () => {
      const { schema } = one.judge
      const used = new Set<string>()
      await agreeOn(service, one, recordsOf(schema), { seed: SEED, count: RECORDS, used })
      const expected = unsaid(schema).filter((rule) => !NOT_MET.includes(rule))
      assert.deepEqual([...used].sort(), expected.sort(), 'x-rules that the service needed')
    })
  }

  test('schema and service agree on events with a definition, except for its `product`', async () => {
    const activity = TARGETS.at(-1)!
    const { schema } = activity.judge
    const eventname = { enum: ['DailyStats'] }
    const records = recordsOf({ ...schema, properties: { ...schema.properties, eventname } })
    const others = records.filter((text) => !text.includes('"product":'))
    const used = new Set<string>()
    await agreeOn(service, activity, others, { seed: SEED, count: RECORDS, used })
    assert.ok(used.has('no_kpi') && used.has('* type'), [...used].join())
  })

  for (const { description, type, tests } of TABLES) {
    test(`schema and service agree on each row of the table of ${description}`, async () => {
      for (const { one, name } of fieldsOf(type)) {
        const example = one.judge.schema.examples![0]!
        const isDaily = type === 'Day'
        const records = tests.map(({ data }, i) => {
          const key = one.judge.schema['x-key']!.find((member) => member !== name)
          const apart = key && !isDaily ? { [key]: `row-${i}` } : {}
          return JSON.stringify({ ...example, ...apart, [name]: data })
        })
        const faults = await faultsOf(service, one, records)
        for (const [i, { description: row, data, valid, schema }] of tests.entries()) {
          // Null is as good as left out where brands may leave something out.
          if (data === null && one.vertical === 'igaming') continue
          const of = `${one.file} ${name}: ${row}`
          assert.equal(disagreement(one.judge, records[i]!, faults[i]!), null, of)
          assert.equal(faults[i]!.length === 0, valid, of)
          assert.equal(one.judge.validate(JSON.parse(records[i]!)), schema ?? valid, of)
        }
      }
    })
  }

  const bulk = judgeOf('bulk')
  for (const one of TARGETS) {
    const { file, vertical, resource, judge } = one
    const example = judge.schema.examples![0]!
    const key = judge.schema['x-key']![0] === 'date' ? 'instrument' : judge.schema['x-key']![0]!

    test(`schema and service agree on whole bodies of ${file}`, async () => {
      const compare = async (body: unknown) => {
        const answer = await service.post(vertical, resource, JSON.stringify(body))
        checkAnswer(answer)
        const { status } = answer
        const taken = isTaken(body, vertical, bulk, judge)
        assert.equal(status < 300, taken, `${status}: ${JSON.stringify(body).slice(0, 1000)}`)
        if (!taken) assert.equal(status, 422)
      }
      await fc.assert(fc.asyncProperty(bodies(example, key), compare), { seed: SEED, numRuns: 50 })
      for (const body of largest(example, key)) await compare(body)
      for (const text of MALFORMED) {
        const answer = await service.post(vertical, resource, text)
        checkAnswer(answer)
        assert.deepEqual([text, answer.status], [text, 400])
      }
    })
  }

  test('the schemas accept what lists return', async () => {
    const list = judgeOf('list')
    for (const { file, vertical, resource, judge } of TARGETS) {
      const example = judge.schema.examples![0]!
      const sent = await service.post(vertical, resource, JSON.stringify(example), { dry: false })
      checkAnswer(sent)
      assert.equal(sent.status, 201, file)
      const { status, body } = await service.get(vertical, resource)
      assert.deepEqual([status, body.data.length, list.validate(body)], [200, 1, true], file)
      assert.ok(judge.validate(body.data[0]), `${file}: ${JSON.stringify(judge.validate.errors)}`)
      const wrong = await service.get(vertical, `${resource}?page=0`)
      checkAnswer(wrong)
      assert.equal(wrong.status, 400)
    }
  })
})

/** The members of records that are of a type, one of each way in which brands and partners have it. */
const fieldsOf = (type: string) =>
  TARGETS.flatMap((one) =>
    Object.entries(one.judge.schema.properties!)
      .filter(([, member]) => typeOf(member) === type)
      .map(([name]) => ({ one, name })),
  )
