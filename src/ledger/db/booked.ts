/** A payment of a statement that came back. */
export interface ReturnedPayment {
  /** The reference of the payment. */
  readonly payment: string
  readonly returned_on: string
  readonly reason: string
}

/** The SQL of how the last payment of a statement `s` that came back did so, as JSON. */
export const PAYMENT_RETURN = `(
    select json_object('payment', n.payment, 'returned_on', n.returned_on, 'reason', n.reason)
    from payment_returns n where n.account = s.account and n.payment = s.returned)`

/** Whether the row `c` of `closed_periods` closes its period for an affiliate, named by SQL. */
export const closesFor = (affiliate: string): string => `not exists (
      select 1 from open_affiliates o
      where o.account = :account and o.plan = c.plan and o.period = c.period
        and o.affiliate_id = ${affiliate})`

/** The place of a statement, each as SQL. */
interface ClosablePlace {
  readonly affiliate: string
  readonly plan: string
  readonly period: string
}

/** Whether a period was approved as a whole, or a later one, and not left open for the affiliate. */
export const isClosedFor = ({ affiliate, plan, period }: ClosablePlace): string => `exists (
    select 1 from closed_periods c
    where c.account = :account and c.plan = ${plan} and c.period >= ${period}
      and ${closesFor(affiliate)})`
