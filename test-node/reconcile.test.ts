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
    writeFileSync(join(folder, 'profile.json'), JSON.stringify(service.demo))
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
    const words = ['--vertical', vertical, '--resource', resource, file, ...more]
    const code = await runPush([...words, '--profile', join(folder, 'profile.json')], {
      env: {},
      stdin: process.stdin,
      stderr: process.stderr,
      print: (line) => printed.push(line),
      printError: (line) => printed.push(line),
      onStart: () => {},
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
        '1 record is invalid and not compared: the first is in t.csv, line 5.',
        'The files agree with the totals of transactions of 2026-10-07 to 2026-10-08 (groups: 2).',
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
        'The files differ from the totals of transactions of 2026-10-08 (groups: 2 of 2).',
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
      /1 row has the id of an earlier row of this file \(.*\); their fields are merged in this order\. Add --allow-repeats/,
    )
    await push('igaming', 'activities', 'a.json', activities)

    for (const [resource, name, text] of [
      ['customers', 'c.json', customers],
      ['activities', 'a.json', activities],
    ] as const) {
      const found = await push('igaming', resource, name, text, '--reconcile', '--json')
      const { differences, invalid, withoutDay } = JSON.parse(found.text)
      assert.deepEqual(
        { code: found.code, differences, invalid, withoutDay },
        {
          ...{ code: 0, differences: [], invalid: [], withoutDay: [] },
        },
      )
    }
    const { code, text } = await push('igaming', 'activities', 'n.json', '[]', '--reconcile')
    assert.deepEqual([code, text], [2, 'push: The files have no valid record with a day.'])
  })
})
