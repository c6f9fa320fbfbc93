import { ruleWords } from '../../commission/plans/plan-words.ts'
import type { PlanTerms, Rule } from '../../commission/plans/types.ts'
import type { StatementLine } from '../../commission/run/draft.ts'
import { isPercentRate, parseScope } from '../../commission/run/line-groups.ts'
import { counted, figure, money } from '../../commission/words/english.ts'
import { Amount, count, Data, isolated } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { type RuleLines, SHOWN_LINES } from '../../pages/parts/rule-lines.ts'
import { type NumberCell, Table } from '../../pages/parts/table.tsx'
import { compare, decimal, isSome } from '../../platform/money/decimal.ts'
import { minorDigits } from '../../platform/money/minor-digits.ts'
import { moneyText } from '../../platform/money/money.ts'
import { Sentences, sentencesOf } from '../plans/plan-words.tsx'

// The lines of a statement, by rule.

/** What the lines of a statement are shown with. */
export interface LinesFrame {
  readonly currency: string
  /** Returns the terms of a version of the plan; null if they are not known. */
  readonly termsOf: (version: number) => PlanTerms | null
}

/** Renders whom or what a line is for. */
export const Scope = ({ scope }: { scope: string }) => {
  const { of, id } = parseScope(scope)
  if (of === 'all') return <>All customers</>
  if (of === 'product') return <Data text={id} />
  return (
    <AccountLink at={[of === 'customer' ? 'customers' : 'affiliates', id]}>
      <Data text={id} />
    </AccountLink>
  )
}

/** What the records of a line are of. */
export const SCOPES = {
  all: 'For',
  customer: 'Customer',
  product: 'Product',
  affiliate: 'Affiliate',
}

/** Returns the title of the column that says whom or what lines are for. */
function scopeTitle(lines: readonly StatementLine[]): string {
  const kinds = [...new Set(lines.map(({ scope }) => parseScope(scope).of))]
  return kinds.length === 1 && kinds[0] ? SCOPES[kinds[0]] : 'For'
}

/** Returns the rate of a line in words: `30 %`, `5.00 EUR from 100 on`. */
function rateText({ kind, rate, step }: StatementLine, rule: Rule | undefined, currency: string) {
  const text = (value: string): string =>
    isPercentRate(kind, rule) ? `${figure(value)} %` : money(value, currency)
  if (step !== null && typeof step !== 'string') {
    return step.map(({ part, rate: own }) => `${figure(part)} at ${text(own)}`).join(', ')
  }
  if (rate === null) return '–'
  return step === null || step === '0' ? text(rate) : `${text(rate)} from ${figure(step)} on`
}

/** Renders an amount with at least the minor digits of its currency: bases have no trailing zeros. */
const Money = ({ value, currency }: { value: string; currency: string }) => {
  const [whole = '', fraction = ''] = value.split('.')
  const digits = fraction.padEnd(minorDigits(currency), '0')
  return <Amount value={digits ? `${whole}.${digits}` : whole} currency={currency} />
}

/** Returns the amounts of lines; false if all are 0. */
const amounts = (
  lines: readonly StatementLine[],
  currency: string,
  amountOf: (line: StatementLine) => string | null,
): NumberCell<StatementLine> | false =>
  lines.some((line) => isSome(amountOf(line))) && {
    number: (line) => {
      const value = amountOf(line)
      return value === null ? '–' : <Money value={value} currency={currency} />
    },
  }

const figureOrDash = (text: string | null): string => (text === null ? '–' : figure(text))

/** Returns whether a line has a rate that its amount does not tell: what is paid once is often the rate itself. */
const hasRate = ({ kind, rate, step, amount, base }: StatementLine): boolean =>
  kind === 'once' && base === null && step === null && rate !== null
    ? compare(decimal(rate), decimal(amount)) !== 0
    : rate !== null || step !== null

/** Returns what lines are paid for, and what changed their amounts: the columns that are not empty. */
function figureColumns(
  { currency }: LinesFrame,
  rule: Rule | undefined,
  lines: readonly StatementLine[],
): Readonly<Record<string, NumberCell<StatementLine> | false>> {
  const reached = ({ measure, units, base }: StatementLine) =>
    measure === null || measure === (units ?? base) ? null : measure
  const numbers = (textOf: (line: StatementLine) => string | null) =>
    lines.some((line) => textOf(line) !== null) && {
      number: (line: StatementLine) => figureOrDash(textOf(line)),
    }
  return {
    'Based on': amounts(lines, currency, ({ base }) => base),
    Units: numbers(({ units }) => units),
    Reached: numbers(reached),
    Rate: lines.some(hasRate) && { number: (line) => rateText(line, rule, currency) },
    'Carried in': amounts(lines, currency, ({ carried_in }) => carried_in),
    'Carried on': amounts(lines, currency, ({ carried_out }) => carried_out),
    'Cut by a limit': amounts(lines, currency, ({ capped }) => capped),
    'Advance paid back': amounts(lines, currency, ({ recouped }) => recouped),
    'Advance still open': amounts(lines, currency, ({ deficit }) => deficit),
    'Losses set apart': amounts(lines, currency, ({ fence }) => fence?.fenced ?? null),
  }
}

/** Renders the lines of a statement by rule. */
export const LinesByRule = ({
  groups,
  frame,
}: {
  frame: LinesFrame
  groups: readonly RuleLines[]
}) =>
  groups.length === 0 ? (
    <p class="note">No rule of the plan pays for this period.</p>
  ) : (
    groups.map(({ rule, version, lines, sum, count: all }) => {
      const terms = frame.termsOf(version)
      const own = terms?.rules.find(({ id }) => id === rule)
      const [pays, ...limits] = terms && own ? sentencesOf(ruleWords(own, terms)) : []
      const shown = lines.slice(0, Math.max(1, Math.floor(SHOWN_LINES / groups.length)))
      return (
        <details class="rule-lines">
          <summary>
            <span class="what">
              <Data text={pays ?? rule} />
            </span>{' '}
            <small>{counted(all, 'line')}</small>{' '}
            <Amount value={moneyText(sum, frame.currency)} currency={frame.currency} />
          </summary>
          {!pays && <p class="note">The terms of this version are not known.</p>}
          {limits.length > 0 && <Sentences now={limits} before={null} />}
          <Table
            caption={`Rule ${isolated(rule)}, version ${version} of the plan`}
            rows={shown}
            columns={{
              [scopeTitle(shown)]: ({ scope }) => <Scope scope={scope} />,
              Amount: {
                number: ({ id, amount }) => (
                  <AccountLink at={['lines', id]}>
                    <Amount value={amount} currency={frame.currency} />
                  </AccountLink>
                ),
              },
              ...figureColumns(frame, own, shown),
            }}
          />
          {shown.length < all && (
            <p class="note">
              These are the first {count(shown.length)}. The CSV file has all {count(all)} lines.
            </p>
          )}
        </details>
      )
    })
  )
