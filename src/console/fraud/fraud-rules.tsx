import { getAccount } from '../../accounts/accounts.ts'
import type { Kind } from '../../fraud/kind.ts'
import { kindsOf } from '../../fraud/kinds.ts'
import { listFraudRules } from '../../fraud/operations/fraud-rules.ts'
import { usualId, usualRule } from '../../fraud/rule-sets.ts'
import { defaultsOf, kindNamed } from '../../fraud/words.ts'
import {
  accountPath,
  dayBefore,
  type Page,
  useVisit,
  type Visit,
  withQuery,
} from '../../pages/page.ts'
import { Badge, Data, EmptyState, Name } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { isAtLeast } from '../../platform/auth/roles.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { SeverityBadge } from './case-parts.tsx'
import { putRule, readAffiliates, ruleEditing, ruleForm } from './fraud-rule-form.tsx'

type ListedRule = AnswerOf<typeof listFraudRules>['data'][number]

/** Returns an id for a new rule of a kind, which no rule of the account has. */
function newId(kind: Kind, rules: readonly ListedRule[]): string {
  const usual = usualId(kind)
  const isTaken = (id: string) => rules.some(({ rule }) => rule === id)
  let [id, number] = [usual, 2]
  while (isTaken(id)) id = `${usual}-${number++}`
  return id
}

const stateOf = ({ disabled, in_force }: ListedRule) =>
  disabled ? (
    <Badge tone="quiet">disabled</Badge>
  ) : in_force === null ? (
    <Badge tone="quiet">not in force</Badge>
  ) : (
    <Badge tone="good">in force</Badge>
  )

interface KindsProps {
  readonly kinds: readonly Kind[]
}

/** Renders kinds of rules: when each opens a case, what it sees, and what it cannot see. */
const KindCards = ({ kinds }: KindsProps, visit = useVisit()) => (
  <ul class="templates">
    {kinds.map((kind) => (
      <li class="template">
        <h3>{kind.name}</h3>
        <p>{`Opens a case when ${kind.words(defaultsOf(kind)).when}.`}</p>
        <p class="note">
          <strong>It sees:</strong> {kind.sees} <strong>It cannot see:</strong> {kind.cannotSee}
        </p>
        {isAtLeast(visit.member.role, 'manager') && (
          <a
            class="button"
            href={withQuery(accountPath(visit.account, 'fraud-rules'), { new: kind.kind })}
            aria-label={`Add the rule ${kind.name}`}
          >
            Add
          </a>
        )}
      </li>
    ))}
  </ul>
)

const read = ({ api, account }: Visit) =>
  Promise.all([api.call(listFraudRules, { account }), api.call(getAccount, { account })])

/** Renders the form of a new rule of a kind. */
async function renderForm(visit: Visit, kind: Kind) {
  const [[{ data: rules }, account], affiliates] = await Promise.all([
    read(visit),
    readAffiliates(visit),
  ])
  const { body, computeDeferred } = ruleForm({
    ...{ visit, kind, account, affiliates, versions: null },
    needed: 'manager',
    rule: newId(kind, rules),
    initial: usualRule(kind, dayBefore(visit.today, 0)),
  })
  return {
    title: 'New rule',
    body: (
      <>
        <p class="lead">
          {kind.name}. Nothing is saved before you choose so.{' '}
          <AccountLink at={['fraud-rules']} children="All rules" />
        </p>
        <p class="note">
          <strong>It sees:</strong> {kind.sees} <strong>It cannot see:</strong> {kind.cannotSee}
        </p>
        {body}
      </>
    ),
    computeDeferred,
  }
}

/** The fraud rules of an account, and the kinds that it can have. */
export const fraudRulesPage: Page = {
  path: '/accounts/:account/fraud-rules',
  section: 'Rules',
  query: ['new'],
  ...ruleEditing,
  changes: { put: putRule },
  async render(visit) {
    const chosen = (visit.typed ?? visit.refused)?.values('kind') || visit.query.new
    const kind = kindNamed(chosen)
    if (kind) return renderForm(visit, kind)
    const [{ data: rules }, account] = await read(visit)
    const hasRule = ({ kind }: Kind) => rules.some((one) => one.kind === kind)
    const others = kindsOf(account.vertical).filter((kind) => !hasRule(kind))
    const isOffered =
      others.length < kindsOf(account.vertical).length && isAtLeast(visit.member.role, 'manager')
    const body = (
      <>
        <p class="lead">
          Rules look for patterns of fraud in the records and open cases. A rule never changes what
          an affiliate earns.
        </p>
        <Table
          caption="Rules"
          rows={rules}
          columns={{
            Rule: ({ rule, name }) => (
              <AccountLink at={['fraud-rules', rule]} children={<Name text={name} />} />
            ),
            'What it does': {
              prose: ({ words: [opens = '', ...limits] }) => (
                <>
                  <Data text={opens} />
                  {limits
                    .filter((one) => /^It only reads|but not of/.test(one))
                    .map((one) => (
                      <>
                        {' '}
                        <Data text={one} />
                      </>
                    ))}
                </>
              ),
            },
            Severity: SeverityBadge,
            Since: 'effective_from',
            State: stateOf,
          }}
          empty={
            <EmptyState title="There are no rules yet.">
              <p>Choose one below. It opens cases, and holds nothing unless you say so.</p>
            </EmptyState>
          }
        />
        {(others.length > 0 || isOffered) && (
          <h2 id="new-rule">{others.length > 0 ? 'Patterns without a rule' : 'More rules'}</h2>
        )}
        {others.length > 0 && <KindCards kinds={others} />}
        {isOffered && (
          <details>
            <summary>Add a second rule of a kind, such as for some affiliates only</summary>
            <KindCards kinds={kindsOf(account.vertical).filter(hasRule)} />
          </details>
        )}
      </>
    )
    return { title: 'Fraud rules', body }
  },
}
