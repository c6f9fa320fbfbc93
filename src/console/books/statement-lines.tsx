import { compare, decimal, isSome } from '../../commission/engine/decimal.ts'
import type { PlanTerms, Rule } from '../../commission/engine/plan.ts'
import { ruleWords } from '../../commission/engine/plan-words.ts'
import { counted, figure, money } from '../../commission/engine/reasons.ts'
import { minorDigits } from '../../commission/minor-digits.ts'
import type { StatementLine } from '../../commission/statements/draft.ts'
import {
  type EqualLines,
  isPercentRate,
  type LineGroup,
  parseScope,
} from '../../commission/statements/line-groups.ts'
import { moneyText } from '../../commission/statements/money.ts'
import { useVisit, type Visit, withQuery } from '../../pages/page.ts'
import { Amount, count, Data, isolated } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { type Cell, type NumberCell, Table } from '../../pages/parts/table.tsx'
import { Sentences, sentencesOf } from '../plans/plan-words.tsx'
import { readTerms } from '../records/reasons.tsx'

// The lines of a statement, by rule.

/** Returns the terms of a version of the plan; null if they are not known. */
type TermsOfVersion = (version: number) => PlanTerms | null

/** The rows of a rule that are shown at once, those of all rules together, and the lines of a page of a list. */
const SHOWN = { rows: 20, all: 60, lines: 100 }

/** Returns how many rows of each rule are shown, so that a statement of many rules stays a short page. */
const rowsOfEach = (groups: number): number =>
  Math.max(1, Math.min(SHOWN.rows, Math.floor(SHOWN.all / groups)))

/** Reads the terms of the versions of a plan, withdrawn ones included. */
export async function readVersions(visit: Visit, plan: string): Promise<TermsOfVersion> {
  const termsOf = await readTerms(visit, [{ plan }])
  return (version) => termsOf({ plan, version })
}

/** What the lines of a statement are shown with. */
export interface LinesFrame {
  readonly currency: string
  readonly termsOf: TermsOfVersion
}

const ruleOf = (
  { termsOf }: LinesFrame,
  { rule, version }: Pick<LineGroup, 'rule' | 'version'>,
): Rule | undefined => termsOf(version)?.rules.find(({ id }) => id === rule)

/** Returns the sentences of a rule, what it pays for first; none if its terms are unknown. */
function wordsOf(frame: LinesFrame, group: Pick<LineGroup, 'rule' | 'version'>): string[] {
  const rule = ruleOf(frame, group)
  const terms = frame.termsOf(group.version)
  if (!rule || !terms) return []
  return sentencesOf(ruleWords(rule, terms))
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

/** Returns the amounts of lines, each with a link to its explanation. */
export const explained = <Row extends { readonly id: string; readonly amount: string }>(
  currency: string,
): NumberCell<Row> => ({
  number: ({ id, amount }) => (
    <AccountLink at={['lines', id]} children={<Amount value={amount} currency={currency} />} />
  ),
})

/** Returns the address of the list of lines of a rule. */
const listAddress = (
  { path }: Visit,
  { rule, version }: Pick<LineGroup, 'rule' | 'version'>,
): string => `${withQuery(path, { rule, version: `${version}` })}#lines`

/** Renders the lines of a statement by rule. */
export const LinesByRule = (
  { groups, frame }: { frame: LinesFrame; groups: readonly LineGroup[] },
  visit = useVisit(),
) =>
  groups.length === 0 ? (
    <p class="note">No rule of the plan pays for this period.</p>
  ) : (
    groups.map((group) => {
      const [pays, ...limits] = wordsOf(frame, group)
      const rows = [...group.equal.values()].toSorted(
        (a, b) => Number(b.count > 1) - Number(a.count > 1),
      )
      const shown = rows.slice(0, rowsOfEach(groups.length))
      const lines = shown.map(({ line }) => line)
      const { number: single } = explained<StatementLine>(frame.currency)
      return (
        <details class="rule-lines">
          <summary>
            <span class="what">{pays ? <Data text={pays} /> : <Data text={group.rule} />}</span>{' '}
            <small>{counted(group.count, 'line')}</small>{' '}
            <Amount value={moneyText(group.sum, frame.currency)} currency={frame.currency} />
          </summary>
          {!pays && <p class="note">The terms of this version are not known.</p>}
          {limits.length > 0 && <Sentences now={limits} before={null} />}
          <Table
            caption={`Rule ${isolated(group.rule)}, version ${group.version} of the plan`}
            rows={shown}
            columns={{
              [scopeTitle(lines)]: ({ line, count: of }) =>
                of === 1 ? (
                  <Scope scope={line.scope} />
                ) : (
                  <a href={listAddress(visit, group)}>
                    {count(of)} × {money(line.amount, frame.currency)}
                  </a>
                ),
              Amount: {
                number: ({ line, count: of, sum }) =>
                  of === 1 ? (
                    single(line)
                  ) : (
                    <Amount value={moneyText(sum, frame.currency)} currency={frame.currency} />
                  ),
              },
              ...Object.fromEntries(
                Object.entries(figureColumns(frame, ruleOf(frame, group), lines)).map(
                  ([title, cell]): [string, Cell<EqualLines> | false] => [
                    title,
                    cell && { number: ({ line }) => cell.number(line) },
                  ],
                ),
              ),
            }}
          />
          {shown.length < rows.length && (
            <p>
              <a href={listAddress(visit, group)}>All {counted(group.count, 'line')}</a>
            </p>
          )}
        </details>
      )
    })
  )

/** Returns how many lines come before those of a cursor. */
const offsetOf = (cursor: string | undefined): number =>
  /^\d{1,7}$/.test(cursor ?? '') ? Number(cursor) : 0

/** Renders a page of the lines of a rule. */
export function LineList(
  { frame, lines }: { frame: LinesFrame; lines: readonly StatementLine[] },
  visit = useVisit(),
) {
  const { currency } = frame
  const { rule = '', version = '', cursor } = visit.query
  const named = { rule, version: Number(version) }
  const [pays = rule] = wordsOf(frame, named)
  const offset = offsetOf(cursor)
  const shown = lines.slice(offset, offset + SHOWN.lines)
  const to = (at: number) =>
    `${withQuery(visit.path, { ...visit.query, cursor: at > 0 ? `${at}` : undefined })}#lines`
  const end = offset + shown.length
  return (
    <>
      <p>
        <Data text={pays} />
      </p>
      <p class="quick">
        <a href={`${visit.path}#lines`}>All rules</a>
      </p>
      <Table
        caption={`Lines ${count(offset + 1)} to ${count(end)} of ${count(lines.length)}. Select an amount to see why.`}
        rows={shown}
        columns={{
          [scopeTitle(shown)]: ({ scope }) => <Scope scope={scope} />,
          Amount: explained(currency),
          ...figureColumns(frame, ruleOf(frame, named), shown),
        }}
        empty={<p class="note">The statement has no such lines.</p>}
      />
      <nav class="pager" aria-label="Pages of the lines">
        {offset > 0 && <a href={to(Math.max(0, offset - SHOWN.lines))}>Previous lines</a>}
        {end < lines.length && (
          <a href={to(end)} rel="next">
            Next lines
          </a>
        )}
      </nav>
    </>
  )
}
