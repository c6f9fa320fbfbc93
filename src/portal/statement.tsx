import type { Context } from 'hono'
import { fileFor } from '../affiliates/door.ts'
import { HIDDEN } from '../affiliates/view.ts'
import { type RuleWords, ruleWords } from '../commission/plans/plan-words.ts'
import type { Adjustment, StatementLine } from '../commission/run/draft.ts'
import { parseScope } from '../commission/run/line-groups.ts'
import { balanceOf } from '../commission/why/balance.ts'
import { causeIds, causeSentence, correctionSentence } from '../commission/why/cause-words.ts'
import { getExplanation } from '../commission/why/operations.ts'
import { type Explained, sentencesIn } from '../commission/why/sentences.ts'
import { isMessageName } from '../commission/words/words.ts'
import { respond } from '../pages/base/respond.ts'
import { Data } from '../pages/parts/data.tsx'
import { type RuleLines, readLines, SHOWN_LINES } from '../pages/parts/rule-lines.ts'
import { getAffiliateStatement } from '../payouts/own/statements.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import type { AnswerOf } from '../platform/http/operation.ts'
import { fill } from '../platform/languages.ts'
import { moneyText } from '../platform/money/money.ts'
import { portalPath } from './layout.tsx'
import { MemberPage, Sentence, SentenceList, titleText } from './member-page.tsx'
import { briefly, groupMoney, ToDo } from './money.tsx'
import { type NamedPlans, readPlans } from './plans.ts'
import { AskLink } from './questions.tsx'
import { outcomeText, STATEMENTS } from './statements.tsx'
import type { MemberVisit } from './visit.ts'

/** A statement with a part of its lines. */
type WholeStatement = AnswerOf<typeof getAffiliateStatement>

/** What the parts of the page need. */
interface Frame {
  readonly visit: MemberVisit
  readonly statement: WholeStatement
  /** The path of the statement, below those of the API and of the portal. */
  readonly path: string
  readonly plans: NamedPlans
}

/** Says whom or what a line is for. */
function scopeText(scope: string, { words, speech }: MemberVisit): string {
  const { of, id } = parseScope(scope)
  return of === 'customer' && id === 'hidden'
    ? words.a_customer
    : speech.text(`scope.${of}`, { id })
}

/** Renders an amount that opens to its reason. */
const Why = (props: { frame: Frame; id: string; what: string; amount: string }) => {
  const { frame, id, what, amount } = props
  const { account, words } = frame.visit
  return (
    <a
      class="amount"
      href={`${portalPath(account.id, frame.path)}?${new URLSearchParams({ line: id })}#why`}
      aria-label={`${words.why}: ${what}, ${amount}`}
    >
      {amount}
    </a>
  )
}

/** Renders lines, each with its reason. */
const Lines = ({ frame, lines }: { frame: Frame; lines: readonly StatementLine[] }) => {
  const { visit, statement } = frame
  return lines.map(({ id, scope, amount: paid }) => {
    const what = scopeText(scope, visit)
    const amount = visit.speech.money(paid, statement.currency)
    return (
      <li>
        <Data text={what} /> <Why frame={frame} id={id} what={what} amount={amount} />
      </li>
    )
  })
}

/** Says which line an explanation is about, and what its rule pays. That of a correction begins with what changed. */
function subjectWords({ visit, statement, plans }: Frame, found: Explained): string[] {
  const { speech } = visit
  if (!('line' in found)) return []
  const { scope, rule, version } = found.line
  return [scopeText(scope, visit), ruleOf({ statement, plans }, { rule, version }, speech).pays]
}

/** Returns a rule of the plan of a statement in words. */
function ruleOf(
  { statement, plans }: Pick<Frame, 'statement' | 'plans'>,
  { rule: id, version }: Pick<RuleLines, 'rule' | 'version'>,
  speech: MemberVisit['speech'],
): Pick<RuleWords, 'pays' | 'limits'> {
  const terms = plans.termsOf(statement.plan, version)
  const rule = terms?.rules.find((one) => one.id === id)
  return terms && rule ? ruleWords(rule, terms, speech) : { pays: titleText(id), limits: [] }
}

/** Returns what a question about a statement names. */
const aboutOf = ({ id, period }: WholeStatement) => ({ statement: id, period })

/** Renders what changed after an approval, folded, with the ids that the affiliate sees. */
const CauseDetails = (props: Pick<Adjustment, 'causes'> & Pick<MemberVisit, 'speech'>) => (
  <details>
    <summary>{props.speech.text('correction.details')}</summary>
    <ul>
      {props.causes.map((cause) => {
        const ids = causeIds(cause).filter((id) => id !== HIDDEN)
        return (
          <li>
            <Data text={[causeSentence(cause, props.speech), ...ids].join(', ')} />
          </li>
        )
      })}
    </ul>
  </details>
)

/** Reads and renders why a line or a correction pays what it pays. */
async function renderWhy(frame: Frame, id: string) {
  const { visit, statement } = frame
  const { words, speech } = visit
  const found = await visit.call(getExplanation, { line_id: id })
  return (
    <section class="why" id="why" aria-labelledby="why-title">
      <h2 id="why-title">{words.why}</h2>
      <p>
        {subjectWords(frame, found).map((sentence) => (
          <>
            <strong>
              <Sentence text={sentence} />
            </strong>
            <br />
          </>
        ))}
      </p>
      <SentenceList sentences={sentencesIn(found, speech)} />
      {'of' in found && <CauseDetails causes={found.causes} speech={speech} />}
      <p>
        <AskLink subject={{ ...aboutOf(statement), line: id }} />
      </p>
    </section>
  )
}

/** Reads and renders what a statement pays for, by rule. */
async function renderLines(frame: Frame) {
  const { visit, statement, path } = frame
  const { words, speech, account } = visit
  const { groups, adjustments } = await readLines(statement, (part) =>
    visit.call(getAffiliateStatement, { statement_id: statement.id, part }),
  )
  const money = (amount: string) => speech.money(amount, statement.currency)
  return (
    <>
      <h2 id="lines">{words.lines}</h2>
      {groups.map((group) => {
        const { pays, limits } = ruleOf(frame, group, speech)
        const count = group.count - SHOWN_LINES
        return (
          <details class="rule-lines">
            <summary>
              <span class="what">
                <Sentence text={pays} />
              </span>{' '}
              <span class="amount">{money(moneyText(group.sum, statement.currency))}</span>
            </summary>
            {limits.length > 0 && <SentenceList sentences={limits} />}
            <ul class="rows">
              <Lines frame={frame} lines={group.lines} />
              {count > 0 && (
                <li>
                  <a href={`${portalPath(account.id, path)}?format=csv`}>
                    {speech.text('moreLines', { count })} (CSV)
                  </a>
                </li>
              )}
            </ul>
          </details>
        )
      })}
      {groups.length === 0 && <p class="note">{words.no_lines}</p>}
      {adjustments.length > 0 && (
        <>
          <h2>{speech.text('correctionsOfClosed')}</h2>
          <ul class="rows">
            {adjustments.map((one) => {
              const what = `${speech.period(one.of.period)}: ${correctionSentence(one, speech)}`
              return (
                <li>
                  <Sentence text={what} />{' '}
                  <Why frame={frame} id={one.id} what={what} amount={money(one.amount)} />
                </li>
              )
            })}
          </ul>
        </>
      )}
      {statement.manual.length > 0 && (
        <>
          <h2>{speech.text('balance.manual')}</h2>
          <ul class="rows">
            {statement.manual.map(({ amount, reason }) => (
              <li>
                <Data text={reason} /> <span class="amount">{money(amount)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {statement.holds.length > 0 && (
        <>
          <h2>{speech.text('holds')}</h2>
          <SentenceList
            sentences={statement.holds.map(({ reason, count }) => {
              const name = `hold.${reason}`
              const records = speech.text('count.records', { count })
              return isMessageName(name) ? `${records}: ${speech.text(name)}` : records
            })}
          />
        </>
      )}
    </>
  )
}

/** Responds with a statement: what it pays for by rule, and why a line pays what it pays. */
export async function showStatement(c: Context<AppEnv>, visit: MemberVisit): Promise<Response> {
  const { words, speech, account, member } = visit
  const id = c.req.param('statement') ?? ''
  const path = `${STATEMENTS}/${encodeURIComponent(id)}`
  const { format = '', line } = c.req.query()
  if (format === 'csv') {
    return fileFor(c, getAffiliateStatement, visit.page, {
      type: 'text/csv',
      input: { statement_id: id },
    })
  }
  const statement = await visit.call(getAffiliateStatement, { statement_id: id })
  const { plan, received, transferred, period, currency, earned, money, paid } = statement
  const plans = await readPlans(visit, [
    plan,
    ...received.map(({ from }) => from),
    ...(transferred ? [transferred.to] : []),
  ])
  const frame = { visit, statement, path, plans }
  const [why, lines] = await Promise.all([line ? renderWhy(frame, line) : null, renderLines(frame)])
  return respond(
    c,
    <MemberPage
      visit={visit}
      here="statements"
      title={`${fill(words.earned, { period: speech.period(period) })}: ${speech.money(earned, currency)}`}
    >
      <p class="lead">
        <Sentence text={outcomeText(visit, { ...statement, money: money && briefly(money) })} />
        {paid && (
          <>
            {' '}
            · {words.reference} <Data text={paid.reference} />
          </>
        )}{' '}
        · <AskLink subject={aboutOf(statement)} />
      </p>
      {money && <ToDo groups={groupMoney([{ ...money, statement: id, plan, period, currency }])} />}
      <p class="quick">
        <a href={`${portalPath(account.id, path)}?format=csv`}>CSV</a>
      </p>
      {why}
      <table class="sums">
        <caption>{speech.text('balance')}</caption>
        <tbody>
          {balanceOf(statement, speech, plans.nameOf).map(({ title, amount }) => (
            <tr>
              <th scope="row">{title}</th>
              <td class="number">{speech.money(amount, statement.currency)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {lines}
      <p class="note">
        <Data text={account.name} />, <Data text={member.display_name ?? member.affiliate_id} />,{' '}
        <Data text={plans.nameOf(plan)} />, <code>{statement.id}</code>
      </p>
    </MemberPage>,
  )
}
