import type { Child } from 'hono/jsx'
import { getAccount } from '../../accounts/accounts.ts'
import type { Kind, Vertical } from '../../fraud/kind.ts'
import { type getFraudRule, putFraudRule } from '../../fraud/operations/fraud-rules.ts'
import { fraudRuleWords, kindNamed } from '../../fraud/words.ts'
import {
  accountPath,
  type Change,
  dayBefore,
  type View,
  type Visit,
} from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { dayWords } from '../../pages/parts/data.tsx'
import { Deferred } from '../../pages/parts/deferred.tsx'
import { ErrorTexts, NeedsRole } from '../../pages/parts/forms.tsx'
import { isAtLeast, type Role } from '../../platform/auth/roles.ts'
import { ApiError } from '../../platform/errors.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { understood } from '../plans/form/draft.ts'
import { Fields } from '../plans/plan-fields.tsx'
import { Sentences } from '../plans/plan-words.tsx'
import { openDraft, VersionForm } from '../plans/version-form.tsx'
import { computeBackTest } from './back-test.tsx'
import { checkTerms, membersOf, typedRule, valuesForTerms } from './form.ts'

// The form of a fraud rule: its fields, the rule in words, and what it would have found.

/** A version of a rule. */
export type FraudVersion = AnswerOf<typeof getFraudRule>['versions'][number]

/** The days that a back-test has unless others are chosen. */
const TESTED_DAYS = 90

/** Returns the days that are tested by default: the last ones that are over. */
export const lastDays = ({ today }: Visit): { from: string; to: string } => ({
  from: dayBefore(today, TESTED_DAYS),
  to: dayBefore(today, 1),
})

const sentencesOf = (terms: FraudVersion['terms']): string[] => {
  const { opens, limits } = fraudRuleWords(terms)
  return [opens, ...limits]
}

/** Renders a rule in words. What differs from a version before is marked. */
export const RuleInWords = (props: {
  terms: FraudVersion['terms']
  before?: FraudVersion['terms'] | undefined
}) => (
  <div class="rule in-words">
    <Sentences
      now={sentencesOf(props.terms)}
      before={props.before ? sentencesOf(props.before) : null}
    />
  </div>
)

/** Renders what rules of a kind see, and what not. */
export const Sees = ({ kind }: { kind: Kind }) => (
  <p class="note">
    <strong>It sees:</strong> {kind.sees} <strong>It cannot see:</strong> {kind.cannotSee}
  </p>
)

/** Returns the role that may change a rule: only an approver changes one of which a version holds payouts. */
export const neededFor = (versions: readonly FraudVersion[]): Role =>
  versions.some(({ terms }) => terms.action === 'hold') ? 'approver' : 'manager'

type StoredRule = AnswerOf<typeof putFraudRule>

/** The change that saves a version of a rule: that of the path or, if the path has none, that of the form. */
export const putRule: Change = {
  ...calling(
    putFraudRule,
    (answer) => {
      const { version, effective_from, outcome } = answer as StoredRule
      if (outcome === 'unchanged') return `Version ${version} has these terms already.`
      return `Version ${version} is saved. It applies from ${dayWords(effective_from)} on.`
    },
    async (values, { api, account }) => {
      const kind = kindNamed(values('kind'))
      if (!kind) throw new ApiError('not_found', { detail: 'There is no such kind of rules.' })
      const { vertical } = await api.call(getAccount, { account })
      return { terms: understood(typedRule(kind, membersOf(kind, vertical, true), values)) }
    },
  ),
  next: (answer, { account }) => accountPath(account, 'fraud-rules', (answer as StoredRule).rule),
}

/** What the form begins with. */
interface RuleFormProps {
  readonly title: string
  /** What stands above the form. */
  readonly lead: Child
  readonly kind: Kind
  readonly vertical: Vertical
  /** The rule; of a new one the id that it gets. */
  readonly rule: string
  /** Its versions, the latest first; null for a new rule. */
  readonly versions: readonly FraudVersion[] | null
  /** The terms that the form has before anything is typed. */
  readonly initial: Partial<FraudVersion['terms']>
}

const OFFERS = { lists: new Map<string, string[]>(), without: new Set<string>() }

/** Returns the page with the form of a rule, whose part that is computed from records comes later. */
export function ruleForm(visit: Visit, props: RuleFormProps): View {
  const { title, lead, kind, vertical, rule, versions, initial } = props
  const needed = neededFor(versions ?? [])
  if (!isAtLeast(visit.member.role, needed)) {
    return { title, body: <NeedsRole needs={needed} what="write a version of the rule" /> }
  }
  const members = membersOf(kind, vertical, isAtLeast(visit.member.role, 'approver'))
  const latest = versions?.[0]
  const draft = openDraft(visit, {
    initial: valuesForTerms(members, initial),
    read: (values) => typedRule(kind, members, values),
    check: (terms) => checkTerms(terms, vertical, latest).errors,
  })
  const valid = draft.isValid ? checkTerms(draft.terms, vertical, latest).checked : null
  const { parameters, ...others } = members
  const test = { rule, ...lastDays(visit), version: draft.terms }
  const body = (
    <>
      <p class="lead">{lead}</p>
      <Sees kind={kind} />
      <VersionForm
        draft={draft}
        offers={OFFERS}
        latest={latest ?? null}
        hidden={{ kind: kind.kind, ...(versions === null && { rule }) }}
        buttons={[
          'Show in words and test',
          versions === null ? 'Add the rule' : 'Save this version',
        ]}
        figures={{
          label: 'What this rule would have found',
          title: 'What it would have found',
          content: draft.isValid ? (
            <Deferred part={() => computeBackTest(visit, test)} />
          ) : (
            <p class="note">
              “Show in words and test” tests what you typed on the last {String(TESTED_DAYS)} days.
              Nothing is saved.
            </p>
          ),
        }}
      >
        {valid && <RuleInWords terms={valid} before={latest?.terms} />}
        {parameters && <Fields members={{ parameters }} path="" />}
        <div class="plan-fields">
          <Fields members={others} path="" />
        </div>
        <ErrorTexts errors={draft.errors.filter(({ pointer }) => pointer === '')} />
      </VersionForm>
    </>
  )
  return { title, body }
}
