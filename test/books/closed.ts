import { env } from 'cloudflare:workers'
import type { PlanTerms, Rule } from '../../src/commission/plans/types.ts'
import { assign, monthly, storePlan } from '../commission/stored.ts'
import { storeDrafts } from '../commission/stored-runs.ts'
import { ada, askAdmin, deposit, json, issuedPartner as partner } from '../partner.ts'

/** The account of `firm`, as the administration API names it. */
export const ACCOUNT = 'acme-forex'

/** The path of the account in the administration API. */
export const PATH = `accounts/${ACCOUNT}`

/** Pays a tenth of all deposits. */
export const TENTH: Rule = {
  id: 'tenth',
  kind: 'share',
  percent: '10',
  base: [{ transactions: ['deposit'] }],
}

/** A customer of aff-7 who signed up in January. */
export const customer = (customer_id: string) => ({
  ...ada,
  customer_id,
  signup_date: '2026-01-05T08:00:00.000Z',
})

/** Creates a firm with a customer, Ada, and a plan for everybody. */
export async function firm(rules: Rule[] = [TENTH], terms: Partial<PlanTerms> = {}) {
  const acme = await partner('forex', { affiliates: ['aff-7', 'aff-8', 'aff-9'] })
  await storePlan(acme.account, 'ib', monthly(rules, terms))
  await assign(acme.account, 'ib')
  await acme.post('customers', [customer('c-1')])
  const paid = async (id: string, day: string, amount: number, more: object = {}) => {
    const sent = {
      ...deposit,
      transaction_id: id,
      transaction_date: `${day}T10:00:00Z`,
      amount_currency: amount,
      currency: 'EUR',
      ...more,
    }
    const { delivery_id } = await json(acme.post('transactions', [sent]))
    return String(delivery_id)
  }
  return { ...acme, paid }
}

/** Computes the drafts of affiliates up to a period, as a run does. */
export const refresh = (period: string, affiliates: readonly string[] = ['aff-7']) =>
  storeDrafts(ACCOUNT, period, affiliates)

/** Approves all drafts up to a period, as they are stored. */
export async function approve(period: string, at = Date.now()) {
  await env.DB.prepare(
    `update statements set status = 'approved', approval = 'apr-' || period, approved_at = ?
     where period <= ? and status = 'draft'`,
  )
    .bind(at, period)
    .run()
  // Deliveries of the same millisecond as a computation are ambiguous.
  await scheduler.wait(2)
}

/** Closes a period for all affiliates, with or without a statement. */
export async function closePeriod(period: string, at = Date.now()) {
  await env.DB.prepare(
    `insert into closed_periods (account, plan, period, closed_at) values (?, 'ib', ?, ?)`,
  )
    .bind(ACCOUNT, period, at)
    .run()
  await scheduler.wait(2)
}

/** Computes a period and returns the statement of an affiliate with its adjustments. */
export async function statementOf(period: string, affiliate = 'aff-7') {
  await refresh(period, [affiliate])
  return storedStatement(period, affiliate)
}

/** Returns the stored statement of an affiliate with its adjustments. */
export async function storedStatement(period: string, affiliate: string) {
  const { data } = await json(
    askAdmin(`${PATH}/statements?affiliate_id=${affiliate}&period=${period}`),
  )
  return data[0] ? json(askAdmin(`${PATH}/statements/${data[0].id}`)) : null
}

/** Computes a period and returns the adjustments of an affiliate, each with its causes. */
export async function adjustmentsOf(period: string, affiliate = 'aff-7') {
  return (await statementOf(period, affiliate))?.adjustments ?? []
}
