import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import { readMoney } from '../../src/payouts/own/money.ts'
import { viewOf } from '../../src/platform/auth/affiliate-view.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'

// biome-ignore lint/suspicious/noExplicitAny: rows as they are stored
const read = async (sql: string) => (await env.DB.prepare(sql).all<any>()).results
const cents = (text: string) => BigInt(text.replace('.', ''))

const UNDER_WAY: Record<string, string> = {
  created: 'preparing',
  exported: 'sent',
  accepted: 'sent',
}

/**
 * Returns the statements of which a payment came back or was rejected, to the details that are current and were not approved
 * since: also once a later transfer was cancelled, unless one that was confirmed since has paid a part.
 */
export async function statementsBack(): Promise<ReadonlySet<string>> {
  const transfers = await read('select * from transfers')
  const payees = await read(`select * from payees where party = 'payee' order by version`)
  const batches = await read('select * from payout_batches')
  const isBack = (one: { id: string; affiliate_id: string; transfer: string }) => {
    const { version, payable_from } = payees.findLast(({ id }) => id === one.affiliate_id) ?? {}
    const later = transfers.find(({ id, state }) => id === one.transfer && state === 'paid')
    const paidBy = batches.find(({ id }) => id === later?.batch)
    return transfers.some(
      ({ state, payee_version, changed_at, statements }) =>
        ['returned', 'rejected'].includes(state) &&
        JSON.parse(statements).includes(one.id) &&
        payee_version === (version ?? 0) &&
        changed_at >= (payable_from ?? 0) &&
        !((paidBy?.confirmed_at ?? -1) >= changed_at),
    )
  }
  const all = await read('select * from statements')
  return new Set(all.filter(isBack).map(({ id }) => id))
}

/** Asserts that what affiliates read of the money of all statements agrees with ledger and transfers, and is their own. */
export async function checkMoney(affiliates: readonly string[]) {
  const account = (await findAccount(env.DB, 'acme-forex'))!
  const statements = await read(`select *, statement ->> 'payable' as whole from statements`)
  const transfers = await read('select * from transfers')
  const ledger = await read('select * from ledger order by id')
  const back = await statementsBack()
  for (const affiliate of affiliates) {
    const session = env.DB.withSession('first-primary')
    const call = { session, affiliate: { id: affiliate, account, view: viewOf(account) } as never }
    const found = await readMoney(
      call,
      statements.map(({ id }) => id),
    )
    const own = statements.filter((one) => one.affiliate_id === affiliate)
    expect(found.map((one) => one.statement).sort()).toEqual(own.map(({ id }) => id).sort())
    let paid = 0n
    for (const { statement, state, amount, on } of found) {
      const row = own.find(({ id }) => id === statement)
      const whole = cents(row.whole)
      const entries = ledger.filter((one) => one.statement === statement)
      const left = entries.reduce((all, one) => all + cents(one.amount), whole)
      const settled = entries.reduce(
        (all, one) => (one.kind === 'vat' ? all : all - cents(one.amount)),
        0n,
      )
      const [way] = transfers.filter(
        (one) => one.state in UNDER_WAY && JSON.parse(one.statements).includes(statement),
      )
      const isBack = back.has(statement) ? 'came_back' : undefined
      const expected = left === 0n ? 'paid' : way ? UNDER_WAY[way.state] : isBack
      const isElse = ['approved', 'no_details', 'under_review'].includes(state)
      expect([statement, isElse ? undefined : state]).toEqual([statement, expected])
      if (left === 0n) expect(on).toBe(entries.findLast(({ kind }) => kind === 'paid').value_on)
      expect([statement, cents(amount)]).toEqual([statement, left || settled])
      paid += settled
    }
    const moved = ledger.filter((one) => one.affiliate_id === affiliate && one.kind !== 'vat')
    expect(moved.reduce((all, one) => all + cents(one.amount), paid)).toBe(0n)
  }
}
