import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { REPORT_LIMITS } from '../../src/reports/limits.ts'
import { brand } from '../brand.ts'
import { restoring } from '../limits.ts'
import { ada, deposit, json, partner, traded } from '../partner.ts'

const OCTOBER = 'reports?from=2026-10-01&to=2026-10-31'

restoring(REPORT_LIMITS)

/** Stores a customer with a deposit in EUR and trading in USD. */
async function firm(vertical: 'forex' | 'prop-trading' = 'forex') {
  const acme = await partner(vertical)
  await acme.post('customers', ada)
  const type = vertical === 'forex' ? 'deposit' : 'challenge_fee'
  await acme.post('transactions', { ...deposit, transaction_type: type })
  await acme.post('trading-activity', traded)
  return acme
}

const messageOf = async (response: Promise<Response>) => {
  const { status, code, detail } = await json(response)
  return `${status} ${code}: ${detail}`
}

describe('a report with an invalid query', () => {
  test.each([
    ['to=2026-10-31', 'is required'],
    ['from=2026-10-31&to=2026-10-01', '`from` must not be after `to`.'],
    ['from=2026-10-01&to=2027-10-02', '`from` and `to` can span at most 366 days.'],
    [
      'from=2026-10-32&to=2026-10-01',
      '`from` must be a valid date in the form `YYYY-MM-DD`, not `2026-10-32`.',
    ],
    ['group_by=', '`group_by` is empty.'],
    ['group_by=day,', '`group_by` has an empty name between its commas.'],
    ['group_by=days', '`group_by`: `days` is not a group of forex. Did you mean `day`?'],
    ['group_by=phase', '`group_by`: `phase` is not a group of forex.'],
    ['group_by=day,week,day', '`group_by` names `day` twice. Name it once.'],
    ['group_by=day,week,month,link', '`group_by` names 4 groups. A report has at most 3.'],
    ['metrics=lot', '`metrics`: `lot` is not a metric of forex. Did you mean `lots`?'],
    ['metrics=refund_amount', '`metrics`: `refund_amount` is not a metric of forex.'],
    ['metrics=deposit.Value', '`metrics`: `deposit.Value` is not a metric of forex.'],
    ['metrics=lots,lots', '`metrics` names `lots` twice. Name it once.'],
    ['currency=EUX', '`currency`: `EUX` is not an ISO 4217 currency code. Did you mean `EUR`?'],
    ['currency=eur', '`currency`: `eur` is not an ISO 4217 currency code.'],
    ['groupby=day', 'not a parameter of this endpoint. Did you mean `group_by`?'],
  ])('%s is refused with what to send', async (query, message) => {
    const acme = await partner()
    const days = /\b(from|to)=/.test(query) ? '' : 'from=2026-10-01&to=2026-10-31&'
    const refused = await messageOf(acme.get(`reports?${days}${query}`))
    expect(refused).toContain('400 invalid_query: ')
    expect(refused).toContain(message)
  })

  test('groups and metrics are those of the vertical', async () => {
    const prop = await partner('prop-trading')
    expect((await prop.get(`${OCTOBER}&group_by=phase,account_size`)).status).toBe(200)
    expect(await messageOf(prop.get(`${OCTOBER}&metrics=net_deposits`))).toContain(
      '`net_deposits` is not a metric of prop-trading. Supported: ',
    )
    const casino = await brand()
    expect((await casino.get(`${OCTOBER}&group_by=eventname,product`)).status).toBe(200)
    expect(await messageOf(casino.get(`${OCTOBER}&group_by=instrument`))).toContain('400')
  })
})

describe('a report', () => {
  test('amounts without a rate are in `unconverted`, and so are the metrics that subtract them', async () => {
    const acme = await firm()
    const metrics = 'metrics=deposit_amount,net_deposits,pnl'
    const { totals } = await json(acme.get(`${OCTOBER}&currency=CHF&${metrics}`))
    expect(totals).toEqual({
      metrics: { deposit_amount: '0', net_deposits: '0', pnl: '0' },
      unconverted: [
        { metric: 'deposit_amount', currency: 'EUR', reason: 'fx_pending', amount: '100.25' },
        { metric: 'net_deposits', currency: 'EUR', reason: 'fx_pending', amount: '100.25' },
        { metric: 'pnl', currency: 'USD', reason: 'fx_pending', amount: '-12.345678' },
      ],
    })
  })

  test('CSV has the rows, the totals and what is not converted', async () => {
    const acme = await firm()
    const query = `${OCTOBER}&group_by=affiliate_id,day&metrics=clicks,signups,deposit_amount,pnl`
    const csv = await acme.get(query, { Accept: 'text/csv' })
    expect(csv.headers.get('Content-Type')).toBe('text/csv; charset=utf-8')
    expect(csv.headers.get('Content-Disposition')).toBe(
      'attachment; filename="report-acme-forex-2026-10-01-2026-10-31.csv"',
    )
    expect((await csv.text()).split('\r\n')).toEqual([
      'row,affiliate_id,day,clicks,signups,deposit_amount,pnl,unconverted',
      expect.stringMatching(/^data,aff-7,2026-10-01,0?,1,0,0,$/),
      expect.stringMatching(
        /^data,aff-7,2026-10-02,0?,0,0,-12\.345678,deposit_amount: 100\.25 EUR \(fx_pending\)$/,
      ),
      expect.stringMatching(
        /^total,,,0?,1,0,-12\.345678,deposit_amount: 100\.25 EUR \(fx_pending\)$/,
      ),
      '',
    ])
  })

  test.each(['.', 'a.', '.Value', '%00.x', 'a.%00', 'Bet%5Cx.count', 'Bet%5C'])(
    'the metric %s of a brand is refused',
    async (name) => {
      const casino = await brand()
      expect(await messageOf(casino.get(`${OCTOBER}&metrics=${name}`))).toContain(
        'is not a metric of igaming.',
      )
    },
  )

  test.each([
    ['from=2026-10-01&to=2026-10-31', null, 'no_statements', null],
    ['from=2026-10-01&to=2026-10-30', '2026-10', 'partial_period', null],
    ['from=2026-10-01&to=2026-10-31&group_by=day', '2026-10', 'finer_than_statement', '12.5'],
    ['from=2026-09-01&to=2026-10-31&group_by=month', '2026-W40', 'finer_than_statement', '12.5'],
    ['from=2026-10-01&to=2026-10-31&group_by=affiliate_id,month', '2026-10', undefined, '12.5'],
  ])(
    'the commission of %s with a statement of %s has the note %s',
    async (query, period, reason, owed) => {
      const acme = await firm()
      if (period !== null) {
        await env.DB.prepare(
          `insert into statements (account, period, affiliate_id, plan, id, status, hash, digest, payable,
           closing, statement, lines, parts, state, read_at, computed_at)
         values (?, ?, 'aff-7', 'p', 's', 'draft', '', ?, '0', '0', ?, '[]', 1, '{}', 0, '2026-11-01')`,
        )
          .bind(acme.account, period, 'd'.repeat(64), '{"currency":"EUR","total":"12.50"}')
          .run()
      }
      const report = await json(acme.get(`reports?${query}&currency=EUR&metrics=commission_owed`))
      expect(report.notes.map((note: { reason: string }) => note.reason)).toEqual(
        reason ? [reason] : [],
      )
      expect(report.totals.metrics.commission_owed).toBe(owed)
      const rows = report.data.map((row: { metrics: object }) => Object.values(row.metrics)[0])
      expect(rows).toEqual(reason === undefined ? ['12.5'] : rows.map(() => null))
    },
  )

  test('clicks are null, with a note, if some of their days are no longer kept', async () => {
    const acme = await partner()
    const today = new Date().toISOString().slice(0, 10)
    const before = new Date(Date.now() - 40 * 86_400_000).toISOString().slice(0, 10)
    const old = await json(acme.get(`reports?from=${before}&to=${today}&metrics=clicks`))
    expect(old.totals.metrics.clicks).toBeNull()
    expect(old.notes).toMatchObject([{ metric: 'clicks', reason: 'not_kept' }])
    const recent = await json(acme.get(`reports?from=${today}&to=${today}&metrics=clicks`))
    expect([recent.totals.metrics.clicks, recent.notes]).toEqual([0, []])
  })
})

test('a report of too many rows is refused with what to narrow', async () => {
  const acme = await firm()
  REPORT_LIMITS.groups = 1
  const query = `${OCTOBER}&group_by=day`
  for (const headers of [{}, { Accept: 'text/csv' }]) {
    expect(await messageOf(acme.get(query, headers))).toMatch(
      /^422 validation_failed: The report has more than .* rows\. Ask for fewer days, or for fewer or coarser groups\.$/,
    )
  }
})
