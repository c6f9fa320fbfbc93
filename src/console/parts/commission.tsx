import { decimal, plainText, sum } from '../../commission/engine/decimal.ts'
import { accountPath, withQuery } from '../page.ts'
import { Amount, EmptyState, Table } from './data.tsx'

// The part of the overview that shows what affiliates earned.

/** What the overview reads of a statement. */
export interface Statement {
  readonly currency: string
  readonly total: string
}

/** What the statements of a period come to in one currency. */
export interface Commission {
  readonly period: string
  readonly currency: string
  readonly statements: number
  readonly total: string
  /** Whether there are more statements than were read. */
  readonly isPart: boolean
}

/** Adds up the statements of a period by currency. */
export function commissionOf(
  period: string,
  statements: readonly Statement[],
  found: number,
): Commission[] {
  const byCurrency = Map.groupBy(statements, ({ currency }) => currency)
  return [...byCurrency].map(([currency, list]) => ({
    period,
    currency,
    statements: list.length,
    total: plainText(sum(list.map(({ total }) => decimal(total)))),
    isPart: found > statements.length,
  }))
}

/** Renders what the statements of some periods come to. */
export const CommissionTable = (props: { account: string; rows: readonly Commission[] }) => {
  const path = accountPath(props.account, 'statements')
  return (
    <Table
      caption="Statements of this month and the last one"
      rows={props.rows}
      columns={[
        {
          title: 'Period',
          of: ({ period }) => <a href={withQuery(path, { period })}>{period}</a>,
        },
        {
          title: 'Statements',
          isNumeric: true,
          of: ({ statements, isPart }) => `${isPart ? 'the first ' : ''}${statements}`,
        },
        {
          title: 'Total',
          isNumeric: true,
          of: ({ total, currency }) => <Amount value={total} currency={currency} />,
        },
      ]}
      empty={
        <EmptyState title="There are no statements of this month or the last one.">
          <p>
            A run computes them every morning, once affiliates have a plan.{' '}
            <a href={path}>Earlier statements</a>
          </p>
        </EmptyState>
      }
    />
  )
}
