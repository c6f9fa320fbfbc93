import type { EventDefinition } from '../../platform/directory/event-definitions.ts'
import type { Fact, FactResource } from './facts.ts'

/** An amount of approved records of a kind that the firm gains or, where `sign` is -1, spends. */
export interface RevenuePart extends Pick<Fact, 'kind'> {
  readonly resource: FactResource
  readonly field: string
  readonly sign: 1 | -1
}

/** The names of a brand's events that are deposits and withdrawals. */
export interface MoneyEvents {
  readonly deposits: readonly string[]
  readonly withdrawals: readonly string[]
}

/** Their usual names. */
export const USUAL_EVENTS = { deposits: ['Deposit'], withdrawals: ['Withdrawal'] } as const

const parts = (resource: FactResource, field: string, kinds: readonly string[], sign: 1 | -1 = 1) =>
  kinds.map((kind): RevenuePart => ({ resource, kind, field, sign }))

const OF_PARTNERS: Readonly<Record<string, readonly RevenuePart[]>> = {
  'prop-trading': [
    ...parts('transactions', 'amount_currency', ['challenge_fee', 'reset_fee']),
    ...parts('transactions', 'amount_currency', ['payout', 'refund'], -1),
  ],
  forex: ['spread_cost', 'commission'].flatMap((field) => parts('trading-activity', field, [''])),
}

/**
 * Returns what is the net revenue of a vertical (§15). That of a brand is all its NGR, else its GGR, by the definitions of its
 * events; without either, its deposits less its withdrawals.
 */
export function netRevenue(
  vertical: string,
  definitions: readonly Pick<EventDefinition, 'eventname' | 'kpis'>[],
  { deposits, withdrawals }: MoneyEvents = USUAL_EVENTS,
): readonly RevenuePart[] {
  // The value of an event without KPIs is its only one.
  const ofKpi = (kpi: string) =>
    definitions.flatMap(({ eventname, kpis }) =>
      (kpis.length > 0 ? kpis : [eventname])
        .filter((name) => name.toUpperCase() === kpi)
        .flatMap((name) => parts('activities', kpis.length > 0 ? name : 'Value', [eventname])),
    )
  const [net, gross] = [ofKpi('NGR'), ofKpi('GGR')]
  const taken = withdrawals.filter((name) => !deposits.includes(name))
  const cash = [
    ...parts('activities', 'Value', deposits),
    ...parts('activities', 'Value', taken, -1),
  ]
  return OF_PARTNERS[vertical] ?? [net, gross, cash].find((one) => one.length > 0) ?? []
}
