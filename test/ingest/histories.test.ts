import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readHistories } from '../../src/ingest/db/histories.ts'
import { partOn } from '../../src/platform/db/history.ts'
import { DAY_MS, HOUR_MS } from '../../src/platform/durations.ts'
import { dayInZone } from '../../src/platform/zone.ts'
import { brand, caller } from '../brand.ts'
import { affiliatesOf, at, datedPartner, fieldsOf, linkOf, storedRows } from '../days.ts'
import { ada, askAdmin, json } from '../partner.ts'

describe('affiliates of a partner by day', () => {
  test('a change names the delivery that made it', async () => {
    const send = await datedPartner()
    await send('2096-10-05T10:00:00Z', ada)
    const { delivery_id } = await send('2096-10-07T10:00:00Z', { ...ada, affiliate_id: 'aff-8' })
    const { affiliations } = await json(askAdmin('accounts/acme-forex/customers/c-1/affiliations'))
    expect(affiliations).toEqual([
      { from: null, affiliate_id: 'aff-7', link_id: null, delivery_id: null },
      { from: '2096-10-07', affiliate_id: 'aff-8', link_id: null, delivery_id },
    ])
  })
})

describe('a first affiliate of a partner that lasts less than a day', () => {
  const other = { ...ada, affiliate_id: 'aff-8' }
  const warned = (body: { results: { warnings?: { code: string }[] }[] }) =>
    body.results[0]!.warnings?.filter(({ code }) => code === 'affiliation_changed')
  const corrected = {
    code: 'affiliation_changed',
    pointer: '/affiliate_id',
    message: 'The customer has another affiliate now, who counts from `2026-03-01` on.',
    from: '2026-03-01',
  }
  const ada1 = { ...ada, signup_date: '2026-03-01T08:00:00Z' }
  const other1 = { ...other, signup_date: '2026-03-01T08:00:00Z' }

  test('is replaced from the signup on, and the warning says so', async () => {
    const send = await datedPartner()
    expect(warned(await send('2096-10-05T23:00:00Z', ada1))).toBeUndefined()
    const dry = await send('2096-10-06T22:59:59Z', other1, '?dry_run=true')
    const { delivery_id, ...answer } = await send('2096-10-06T22:59:59Z', other1)
    expect([warned(dry), warned(answer as never)]).toEqual([[corrected], [corrected]])
    expect(await affiliatesOf('acme-forex', 'c-1')).toEqual([[null, 'aff-8']])
    const { affiliations } = await json(askAdmin('accounts/acme-forex/customers/c-1/affiliations'))
    expect(affiliations).toEqual([
      { from: null, affiliate_id: 'aff-8', link_id: null, delivery_id, cause: 'corrected_early' },
    ])
  })
})

describe('fields by day', () => {
  test('an erased customer keeps the history, which has no name and no address', async () => {
    const send = await datedPartner()
    await send('2096-10-05T10:00:00Z', { ...ada, country_code: 'DE', first_name: 'Ada' })
    await send('2096-10-07T10:00:00Z', { ...ada, country_code: 'AT', first_name: 'Ada' })
    await askAdmin('accounts/acme-forex/customers/c-1/personal-data', 'DELETE')
    expect(await fieldsOf('acme-forex', 'c-1')).toHaveLength(2)
    expect(await storedRows()).toEqual([0, 1])
  })
})

describe('any sequence of deliveries gives the history that a plain replay gives', () => {
  /** What one request does: the day, and the value that is stored after it. */
  type Change<V> = readonly [day: string, value: V | null]

  /** Returns the value of a day: the last change up to it, or the first value there ever was. */
  const replay = <V>(changes: readonly Change<V>[], day: string, keepsNull: boolean) => {
    const first = changes.findIndex(([, value]) => value !== null)
    const known = changes.slice(first).filter(([, value]) => keepsNull || value !== null)
    return first < 0 ? null : (known.findLast(([from]) => from <= day) ?? known[0]!)[1]
  }
  const DAYS = Array.from({ length: 12 }, (_, i) => `2096-10-${String(i + 1).padStart(2, '0')}`)
  /** Times in order, so close that several are on one day. */
  const times = (steps: readonly number[]) => {
    let time = Date.parse('2096-10-02T12:00:00Z')
    return steps.map((hours) => {
      time += hours * HOUR_MS
      return new Date(time).toISOString()
    })
  }
  const one = <T>(...values: T[]) => fc.constantFrom(...values)
  const hours = one(0, 1, 7, 13, 26)
  let accounts = 0

  test('partners', async () => {
    const sent = fc.record({
      hours,
      affiliate_id: one('a', 'a', 'b', 'c'),
      country_code: one('DE', 'DE', 'AT', undefined),
      kyc_status_id: one(undefined, undefined, '1', '2'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(sent, { minLength: 1, maxLength: 8 }), async (steps) => {
        accounts += 1
        const account = `firm-${accounts}`
        const send = await datedPartner(account)
        const moments = times(steps.map((step) => step.hours))
        for (const [i, { hours: _, ...members }] of steps.entries()) {
          await send(moments[i]!, { ...ada, ...members })
        }
        const databases = { db: env.DB, directory: env.DB }
        const history = (await readHistories(databases, account, ['c-1'])).get('c-1')!
        for (const day of DAYS) {
          const of = (name: 'country_code' | 'kyc_status_id') =>
            replay(
              steps.map((step, i) => [moments[i]!.slice(0, 10), step[name] ?? null]),
              day,
              true,
            )
          // What changed within a day of the first delivery replaces the first affiliate.
          const isEarly = (i: number) => Date.parse(moments[i]!) < Date.parse(moments[0]!) + DAY_MS
          const first = steps.findLast((_, i) => isEarly(i))!.affiliate_id
          const later = steps.flatMap((step, i): Change<string>[] =>
            isEarly(i) ? [] : [[moments[i]!.slice(0, 10), step.affiliate_id]],
          )
          const affiliate = replay([['', first], ...later], day, true)
          const { values } = partOn(history.fields, day)!
          expect([
            day,
            partOn(history.affiliations, day)!.affiliate_id,
            values.country_code ?? null,
            values.kyc_status_id ?? null,
          ]).toEqual([day, affiliate, of('country_code'), of('kyc_status_id')])
        }
      }),
      { numRuns: 8 },
    )
  })

  test('brands, in another zone', async () => {
    const zone = 'America/New_York'
    const account = 'acme-casino'
    at('2096-10-01T10:00:00Z')
    const { brand_token } = await brand({ time_zone: zone })
    const links = [await linkOf(account, 'A-1'), await linkOf(account, 'A-2')] as const
    const sent = fc.record({
      hours,
      tracking: one<0 | 1 | 'bad' | undefined>(undefined, undefined, 0, 1, 'bad'),
      country: one(undefined, 'DE', 'AT'),
      repeats: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(sent, { minLength: 1, maxLength: 8 }), async (steps) => {
        accounts += 1
        const customerId = `p-${accounts}`
        const { post } = caller(brand_token)
        const moments = times(steps.map((step) => step.hours))
        for (const [i, { tracking, country, repeats }] of steps.entries()) {
          const tracking_data =
            typeof tracking === 'number' ? links[tracking].tracking_data : tracking
          const record = { customerId, tracking_data, country }
          at(moments[i]!)
          await post('customers', repeats ? [record, record] : record)
        }
        const databases = { db: env.DB, directory: env.DB }
        const history = (await readHistories(databases, account, [customerId])).get(customerId)!
        const days = moments.map((moment) => dayInZone(zone, Date.parse(moment)))
        for (const day of DAYS) {
          const affiliates = steps.map(
            ({ tracking }, i) =>
              [days[i]!, typeof tracking === 'number' ? `A-${tracking + 1}` : null] as const,
          )
          const countries = steps.map(({ country }, i) => [days[i]!, country ?? null] as const)
          expect([
            day,
            partOn(history.affiliations, day)!.affiliate_id,
            partOn(history.fields, day)!.values.country_code ?? null,
          ]).toEqual([day, replay(affiliates, day, false), replay(countries, day, false)])
        }
      }),
      { numRuns: 6 },
    )
  })
})
