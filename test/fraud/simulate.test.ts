import { beforeEach, describe, expect, test } from 'vitest'
import { BACK_TEST_LIMITS } from '../../src/fraud/limits.ts'
import { storeWorld } from '../commission/stored-world.ts'
import { restoring } from '../limits.ts'
import { askAdmin, json } from '../partner.ts'
import { WORLD } from './fees.ts'

// The back-test of a rule by its route, with figures that can be checked by hand.

restoring(BACK_TEST_LIMITS)

const PATH = 'accounts/acme/fraud-rules/resets/simulate'
const VERSION = { kind: 'resets', action: 'hold', parameters: { count: 3, days: 3 } }
const BODY = { from: '2026-08-25', to: '2026-09-30', version: VERSION }

const simulate = (body: object, query = '') => askAdmin(`${PATH}${query}`, 'POST', body)

beforeEach(() => storeWorld(WORLD, 'acme'))

describe('a back-test', () => {
  test('tests one affiliate, or the scope of the version', async () => {
    const casesOf = async (version: object, query = '') =>
      (await json(simulate({ ...BODY, version }, query))).data.length
    expect(await casesOf(VERSION, '?affiliate_id=b')).toBe(0)
    expect(await casesOf({ ...VERSION, scope: { affiliates: ['a', 'b'] } })).toBe(1)
    const scope = { affiliates: ['*'], not_affiliates: ['a'] }
    expect(await casesOf({ ...VERSION, scope })).toBe(0)
  })
})

const put = (effective_from: string, more: object = {}) =>
  askAdmin('accounts/acme/fraud-rules/resets', 'PUT', {
    ...{ name: 'Resets', severity: 'low', effective_from },
    ...{ kind: 'resets', parameters: { count: 3, days: 3 }, ...more },
  })

describe('a back-test of the stored versions', () => {
  const { version: _, ...days } = BODY

  test('a disabled version finds nothing, unless it is sent', async () => {
    await put('2026-08-01', { disabled: true })
    expect((await json(simulate(days))).data).toEqual([])
    const sent = await json(simulate({ ...BODY, version: { ...VERSION, disabled: true } }))
    expect(sent.data).toHaveLength(1)
  })
})

describe('what is wrong with a request', () => {
  const errorsOf = async (body: object) => {
    const response = await simulate(body)
    expect(response.status).toBe(422)
    const { errors } = await json(response)
    return errors.map(({ pointer, code }: { pointer: string; code: string }) => [pointer, code])
  }

  test.each<[string, object, string, string]>([
    ['the days in the wrong order', { ...BODY, to: '2026-08-01' }, '/to', 'minimum'],
    ['a day that is not over', { ...BODY, to: '2099-01-01' }, '/to', 'maximum'],
    ['more than 400 days', { ...BODY, from: '2025-08-01' }, '/to', 'maximum'],
    ['a version that is null', { ...BODY, version: null }, '/version', 'type'],
    ['no kind', { ...BODY, version: {} }, '/version/kind', 'required'],
    ['an unknown kind', { ...BODY, version: { kind: 'hunch' } }, '/version/kind', 'enum'],
    [
      'a kind of another vertical',
      { ...BODY, version: { kind: 'lot_churn' } },
      '/version/kind',
      'enum',
    ],
    [
      'an unknown parameter',
      { ...BODY, version: { ...VERSION, parameters: { counts: 3 } } },
      '/version/parameters/counts',
      'unknown_field',
    ],
  ])('%s', async (_, body, pointer, code) => {
    expect(await errorsOf(body)).toContainEqual([pointer, code])
  })

  test('no version, and no rule that is stored', async () => {
    const { version: _, ...days } = BODY
    expect((await simulate(days)).status).toBe(404)
  })
})

test('more records than one back-test can read are refused', async () => {
  BACK_TEST_LIMITS.facts = 2
  const refused = await simulate(BODY)
  expect(refused.status).toBe(422)
  expect(await json(refused)).toMatchObject({ code: 'validation_failed' })
})
