import { getAccount } from '../../accounts/accounts.ts'
import type { Kind } from '../../fraud/kind.ts'
import { kindsOf } from '../../fraud/kinds.ts'
import {
  disableFraudRule,
  getFraudRule,
  listFraudRules,
} from '../../fraud/operations/fraud-rules.ts'
import { usualId, usualRule } from '../../fraud/rule-sets.ts'
import { defaultsOf, kindNamed } from '../../fraud/words.ts'
import { dayBefore, type Page, useVisit, type Visit } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { Badge, Data, dayWords, EmptyState, isolated } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { FoldedForm, NeedsRole } from '../../pages/parts/forms.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { isAtLeast } from '../../platform/auth/roles.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { redrawVersion } from '../plans/form/draft.ts'
import { Versions } from '../plans/version-form.tsx'
import { SeverityBadge } from './case-parts.tsx'
import { neededFor, putRule, RuleInWords, ruleForm, Sees } from './fraud-rule-form.tsx'

type ListedRule = AnswerOf<typeof listFraudRules>['data'][number]
type RuleWithVersions = AnswerOf<typeof getFraudRule>

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

/** Renders the kinds of rules: when each opens a case, what it sees, and what it cannot see. */
const Kinds = ({ kinds }: { kinds: readonly Kind[] }) => (
  <ul class="templates">
    {kinds.map((kind) => (
      <li class="template">
        <h3>
          <AccountLink at={['fraud-rules']} query={{ new: kind.kind }} children={kind.name} />
        </h3>
        <p>{`Opens a case when ${kind.words(defaultsOf(kind)).when}.`}</p>
        <Sees kind={kind} />
      </li>
    ))}
  </ul>
)

const readRules = ({ api, account }: Visit) =>
  Promise.all([api.call(listFraudRules, { account }), api.call(getAccount, { account })])

/** The fraud rules of an account, the kinds that it can have, and the form of a new one. */
export const fraudRulesPage: Page = {
  path: '/accounts/:account/fraud-rules',
  shows: 'account',
  section: 'Rules',
  query: ['new'],
  redraw: redrawVersion,
  changes: { put: putRule },
  async render(visit) {
    const [{ data: rules }, { vertical }] = await readRules(visit)
    const kind = kindNamed((visit.typed ?? visit.refused?.values)?.('kind') || visit.query.new)
    if (kind) {
      return ruleForm(visit, {
        title: 'New rule',
        kind,
        vertical,
        versions: null,
        lead: `${kind.name}. Nothing is saved before you choose so.`,
        rule: newId(kind, rules),
        initial: usualRule(kind, dayBefore(visit.today, 0)),
      })
    }
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
              <AccountLink at={['fraud-rules', rule]} children={<Data text={name} />} />
            ),
            'What it does': { prose: ({ words: [opens = ''] }) => <Data text={opens} /> },
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
        {isAtLeast(visit.member.role, 'manager') && (
          <>
            <h2 id="new-rule">Add a rule</h2>
            <Kinds kinds={kindsOf(vertical)} />
          </>
        )}
      </>
    )
    return { title: 'Fraud rules', body }
  },
}

/** Says which version applies today, or from when on one does. */
function stateWords({ in_force, disabled, effective_from }: RuleWithVersions): string {
  const day = dayWords(effective_from)
  if (in_force === null) return `It begins on ${day}`
  return disabled ? `It is disabled since ${day}` : `Version ${in_force} is in force since ${day}`
}

/** Renders the form that disables the rule, unless it is over. */
const End = ({ rule }: { rule: RuleWithVersions }, visit = useVisit()) => {
  const needs = neededFor(rule.versions)
  const isOver = rule.disabled && rule.versions[0]?.version === rule.in_force
  if (isOver || !isAtLeast(visit.member.role, needs)) return null
  return (
    <FoldedForm change="disable" submit="Disable the rule" needs={needs} isDanger>
      <p>From today on it finds nothing. What it found before stays.</p>
    </FoldedForm>
  )
}

/** A fraud rule: its versions in words, and the form of the next one, which tests it on past days. */
export const fraudRulePage: Page = {
  path: '/accounts/:account/fraud-rules/:rule',
  shows: 'account',
  section: 'Rules',
  query: ['edit'],
  redraw: redrawVersion,
  changes: {
    put: putRule,
    disable: {
      ...calling(disableFraudRule, 'The rule is disabled from today on.'),
    },
  },
  async render(visit) {
    const { api, account, params, query } = visit
    const [rule, { vertical }] = await Promise.all([
      api.call(getFraudRule, { account, rule: params.rule ?? '' }),
      api.call(getAccount, { account }),
    ])
    const { versions } = rule
    const kind = kindNamed(rule.kind)
    const { disabled: _, ...terms }: Partial<RuleWithVersions['versions'][number]['terms']> =
      versions[0]?.terms ?? {}
    if (kind && (query.edit || visit.typed || visit.refused?.change === 'put')) {
      return ruleForm(visit, {
        title: 'Next version of the rule',
        kind,
        vertical,
        versions,
        rule: rule.rule,
        lead: (
          <>
            <Data text={rule.name} />. A version never changes. The next one applies in its place
            from its first day on{rule.disabled && ', and enables the rule again'}.{' '}
            <AccountLink at={['fraud-rules', rule.rule]} children="Back to the rule" />
          </>
        ),
        initial: { ...terms, effective_from: dayBefore(visit.today, 0) },
      })
    }
    const needed = neededFor(versions)
    const body = (
      <>
        <p class="lead">{stateWords(rule)}.</p>
        {isAtLeast(visit.member.role, needed) ? (
          <p class="quick">
            <AccountLink
              at={['fraud-rules', rule.rule]}
              query={{ edit: 'next' }}
              children="Write the next version"
            />
          </p>
        ) : (
          <NeedsRole needs={needed} what="write the next version" />
        )}
        <h2>What it does</h2>
        <Versions
          versions={versions.map((one, i) => ({
            ...one,
            isReplaced: versions
              .slice(0, i)
              .some(({ effective_from }) => effective_from <= one.effective_from),
          }))}
          inForce={rule.in_force}
          inWords={({ terms }, before) => <RuleInWords terms={terms} before={before?.terms} />}
        />
        {kind && <Sees kind={kind} />}
        <End rule={rule} />
      </>
    )
    return { title: isolated(rule.name), body }
  },
}
