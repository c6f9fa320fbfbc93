import assert from 'node:assert/strict'
import { readSchemaValidator, type SchemaValidator } from './schemas.ts'
import type { Answer, Service } from './service.ts'

/** An error of the service; the pointer starts at the record. */
export interface Fault {
  pointer: string
  code: string
}

/** An entity: the file of its schema, and where its records are sent. */
export interface Target {
  file: string
  vertical: string
  resource: string
  validator: SchemaValidator
}

const RESULT = readSchemaValidator('result')
const PROBLEM = readSchemaValidator('problem')

/** Asserts that a response to a delivery matches its schema. */
export function checkAnswer({ status, body }: Answer): void {
  const { validate } = status < 400 ? RESULT : PROBLEM
  assert.ok(validate(body), `${status} ${JSON.stringify(validate.errors)} ${JSON.stringify(body)}`)
}

const MAX_WRITTEN = 1000

/**
 * Sends records as one bulk and returns the errors of each. `duplicate_key` is checked and left out,
 * because it is not a property of a single record.
 */
export async function faultsOf(
  service: Pick<Service, 'post'>,
  target: Target,
  records: readonly string[],
): Promise<Fault[][]> {
  const { vertical, resource, validator } = target
  const text = `[${records.join(',')}]`
  const answer = await service.post(vertical, resource, text, { prefer: 'handling=lenient' })
  const { status, body } = answer
  checkAnswer(answer)
  const isValidated = [200, 207, 422].includes(status)
  if (!isValidated && records.length === 1) return [[{ pointer: '', code: `status ${status}` }]]
  // The service lists no more errors, so that the records are sent again in halves.
  if (!isValidated || (body.errors_total ?? 0) > MAX_WRITTEN) {
    const half = Math.ceil(records.length / 2)
    const parts = [records.slice(0, half), records.slice(half)]
    return (await Promise.all(parts.map((part) => faultsOf(service, target, part)))).flat()
  }
  const faults = records.map((): Fault[] => [])
  const addFault = (index: number, { pointer, code }: Fault) => {
    assert.ok(`${pointer}/`.startsWith(`/${index}/`), pointer)
    faults[index]!.push({ pointer: pointer.slice(`/${index}`.length), code })
  }
  if (status === 422) for (const error of body.errors) addFault(error.index, error)
  else {
    for (const { index, outcome, errors = [] } of body.results) {
      assert.equal(outcome === 'rejected', errors.length > 0)
      for (const error of errors) addFault(index, error)
    }
  }
  const again = repeatedKeys(validator, records)
  return faults.map((all, index) => {
    const own = all.filter(({ code }) => code !== 'duplicate_key')
    assert.equal(own.length < all.length, again.has(index), `duplicate_key: ${records[index]}`)
    return own
  })
}

/** Returns the records that repeat the key of an earlier one, which no schema of a record can check. */
function repeatedKeys({ schema }: SchemaValidator, records: readonly string[]): Set<number> {
  const rules = schema['x-rules'] ?? {}
  if (!Object.hasOwn(rules, 'duplicate_key')) return new Set()
  const seen = new Set<string>()
  const found = new Set<number>()
  for (const [index, text] of records.entries()) {
    const record = JSON.parse(text)
    const key = schema['x-key']!.map((name) => record?.[name])
    if (!key.every((member) => typeof member === 'string')) continue
    if (seen.has(JSON.stringify(key))) found.add(index)
    seen.add(JSON.stringify(key))
  }
  return found
}
