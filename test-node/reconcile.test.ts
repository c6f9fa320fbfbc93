import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { runPush } from '../scripts/push/run.ts'
import { type Shared, shareService } from './shared-service.ts'

// Sends files to the service, and compares files with its control totals.

const folder = mkdtempSync(join(tmpdir(), 'reconcile-'))

describe('npm run push -- --reconcile', { timeout: 600_000 }, () => {
  let service: Shared
  before(async () => {
    service = await shareService('reconcile')
  })
  after(async () => {
    rmSync(folder, { recursive: true })
    await service?.stop()
  })

  /** Runs the command on a file with this text. Returns the exit code and what it printed. */
  async function push(
    vertical: string,
    resource: string,
    name: string,
    text: string,
    ...more: string[]
  ) {
    const file = join(folder, name)
    writeFileSync(file, text)
    const printed: string[] = []
    const { base_url, accounts } = service.demo
    const account = accounts.find((one) => one.vertical === vertical)!
    const code = await runPush(['--vertical', vertical, '--resource', resource, file, ...more], {
      env: {
        TRIBUTARY_BASE_URL: base_url,
        TRIBUTARY_CLIENT_ID: account.client_id,
        TRIBUTARY_CLIENT_SECRET: account.client_secret,
        TRIBUTARY_BRAND_TOKEN: account.brand_token,
      },
      stderr: process.stderr,
      print: (line) => printed.push(line),
      printError: (line) => printed.push(line),
    })
    return { code, text: printed.join('\n').replaceAll(file, name) }
  }

  const csv = (...rows: string[]) =>
    [
      'transaction_id;customer_id;transaction_type;amount_currency;currency;transaction_date;status',
      ...rows,
    ]
      .map((row) => `${row}\n`)
      .join('')

  test('a firm: the zone of its books, repeated ids, invalid records', async () => {
    const customer =
      'customer_id,signup_date,affiliate_id,tracking_data\nR-1,2026-10-01T00:00:00Z,IB-07,x\n'
    assert.equal((await push('forex', 'customers', 'c.csv', customer)).code, 0)
    const rows = [
      'R-1;R-1;deposit;100.10;EUR;2026-10-08T00:30:00+02:00;approved',
      'R-2;R-1;deposit;0.2;EUR;2026-10-08T10:30:00+02:00;approved',
      'R-2;R-1;deposit;0.3;EUR;2026-10-08T10:30:00+02:00;approved',
      'R-3;R-1;deposit;x;EUR;2026-10-08T10:30:00+02:00;approved',
    ]
    await push('forex', 'transactions', 't.csv', csv(...rows), '--lenient')

    assert.deepEqual(await push('forex', 'transactions', 't.csv', csv(...rows), '--reconcile'), {
      code: 0,
      text: [
        'Not compared, because they are invalid or have no day: 1, first t.csv, line 5.',
        'The files agree with the totals of transactions of 2026-10-07 to 2026-10-08 (0 of 2 groups differ).',
      ].join('\n'),
    })
    const others = csv(rows[1]!, 'R-9;R-1;withdrawal;5;EUR;2026-10-08T10:30:00Z;approved')
    assert.deepEqual(await push('forex', 'transactions', 'o.csv', others, '--reconcile'), {
      code: 1,
      text: [
        '2026-10-08, deposit, approved, EUR',
        '  records: file 1, service 1',
        '  amount_currency: file 0.2, service 0.3',
        '2026-10-08, withdrawal, approved, EUR',
        '  records: file 1, service 0',
        '  amount_currency: file 5, service 0',
        'The files differ from the totals of transactions of 2026-10-08 to 2026-10-08 (2 of 2 groups differ).',
      ].join('\n'),
    })
  })

  test('a brand: merged customers, daily totals that are sent twice, and KPIs', async () => {
    const customers = JSON.stringify([
      { customerId: 'R-1', regtime: '2026-10-01 08:00' },
      { customerId: 'R-1', country: 'DE' },
    ])
    const daily = {
      eventname: 'DailyStats',
      customerid: 'R-1',
      createtime: '2026-10-02',
      Currency: 'EUR',
    }
    const deposit = { ...daily, eventname: 'Deposit', createtime: '2026-10-02 10:00', Value: '0.1' }
    const activities = JSON.stringify([
      { ...daily, GGR: '10.5', NGR: '7.25' },
      { ...daily, GGR: '12.5', NGR: '7.25' },
      { ...deposit, eventid: 'R-e1' },
      { ...deposit, eventid: 'R-e2', Value: '0.2' },
    ])
    assert.match(
      (await push('igaming', 'customers', 'c.json', customers)).text,
      /Ids repeat once \(line 1 repeats line 1\): their fields are merged\. Add --allow-repeats/,
    )
    await push('igaming', 'activities', 'a.json', activities)

    for (const [resource, name, text] of [
      ['customers', 'c.json', customers],
      ['activities', 'a.json', activities],
    ] as const) {
      const found = await push('igaming', resource, name, text, '--reconcile')
      assert.equal(found.code, 0)
      assert.match(found.text, /^The files agree with the totals of /)
    }
    const { code, text } = await push('igaming', 'activities', 'n.json', '[]', '--reconcile')
    assert.deepEqual([code, text], [2, 'push: The files have no valid record with a day.'])
  })
})
