import type { Child } from 'hono/jsx'
import { getAccount } from '../../accounts/accounts.ts'
import { listAffiliates } from '../../affiliates/operations/affiliates.ts'
import type { Kind, Vertical } from '../../fraud/kind.ts'
import { type getFraudRule, putFraudRule } from '../../fraud/operations/fraud-rules.ts'
import { type FraudRuleWords, fraudRuleWords, kindNamed } from '../../fraud/words.ts'
import { calling } from '../../pages/calling.ts'
import {
  accountPath,
  type Change,
  dayBefore,
  type Page,
  type Visit,
  withQuery,
} from '../../pages/page.ts'
import { dayWords } from '../../pages/parts/data.tsx'
import { DeferredPart } from '../../pages/parts/deferred.tsx'
import { ErrorTexts } from '../../pages/parts/forms.tsx'
import { isAtLeast, type Role } from '../../platform/auth/roles.ts'
import { ApiError } from '../../platform/errors.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { redrawVersion, understood } from '../plans/form/draft.ts'
import { Fields } from '../plans/plan-fields.tsx'
import { Sentences } from '../plans/plan-words.tsx'
import { openDraft, VersionForm } from '../plans/version-form.tsx'
import { computeBackTest } from './back-test.tsx'
import { checkTerms, errorInForm, membersOf, typedRule, valuesForTerms } from './form.ts'

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

/** Returns the sentences of a rule, when it opens a case first. */
export const ruleSentences = ({ opens, limits }: FraudRuleWords): string[] => [opens, ...limits]

/** Renders a rule in words. What differs from a version before is marked. */
export const RuleInWords = ({
  terms,
  before,
  isTyped,
}: {
  terms: FraudVersion['terms']
  before?: FraudVersion['terms'] | undefined
  isTyped?: true
}) => (
  <div class={isTyped ? 'rule in-words' : 'rule'}>
    <Sentences
      now={ruleSentences(fraudRuleWords(terms))}
      before={before ? ruleSentences(fraudRuleWords(before)) : null}
    />
  </div>
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

/** The part of a page that has the form: its buttons that store nothing. */
export const ruleEditing: Required<Pick<Page, 'redraw'>> = { redraw: redrawVersion }

/** What the form begins with. */
export interface RuleFormProps {
  readonly visit: Visit
  readonly kind: Kind
  readonly account: { readonly vertical: Vertical }
  /** The rule; of a new one the id that it gets. */
  readonly rule: string
  /** Its versions, the latest first; null for a new rule. */
  readonly versions: readonly FraudVersion[] | null
  /** The role that may change the rule. */
  readonly needed: Role
  /** The terms that the form has before anything is typed. */
  readonly initial: Partial<FraudVersion['terms']>
  /** The ids of affiliates that the form proposes. */
  readonly affiliates: readonly string[]
}

/** Reads the affiliates that the form proposes. */
export const readAffiliates = async ({ api, account }: Visit): Promise<readonly string[]> => {
  const list = await api.call(listAffiliates, { account, per_page: 500 })
  return list.data.map(({ affiliate_id }) => affiliate_id)
}

/** Returns the form of a rule, and the part of it that is computed from records. */
export function ruleForm(props: RuleFormProps): {
  body: Child
  computeDeferred: (() => Promise<Child>) | undefined
} {
  const { visit, kind, account, rule, versions, affiliates, needed, initial } = props
  if (!isAtLeast(visit.member.role, needed)) {
    return {
      body: <p class="note">Only the role {needed} can change this rule.</p>,
      computeDeferred: undefined,
    }
  }
  const { vertical } = account
  const members = membersOf(kind, vertical, isAtLeast(visit.member.role, 'approver'))
  const latest = versions?.[0]
  const draft = openDraft(visit, {
    initial: valuesForTerms(members, initial),
    read: (values) => typedRule(kind, members, values),
    check: (terms, values) =>
      checkTerms(terms, vertical, latest).errors.map((error) => errorInForm(error, values)),
  })
  const valid = draft.isValid ? checkTerms(draft.terms, vertical, latest).checked : null
  const { parameters, ...others } = members
  const days = lastDays(visit)
  const test = accountPath(visit.account, 'fraud-rules', rule, 'simulate')
  const body = (
    <VersionForm
      draft={draft}
      offers={{ lists: new Map([['affiliates', affiliates]]), without: new Set() }}
      latest={latest ?? null}
      hidden={{ kind: kind.kind, ...(versions === null && { rule }) }}
      buttons={['Show in words and test', versions === null ? 'Add the rule' : 'Save this version']}
      figures={{
        label: 'What this rule would have found',
        title: 'What it would have found',
        content: draft.isValid ? (
          <>
            <DeferredPart />
            <p>
              <a href={withQuery(test, { ...days, terms: JSON.stringify(draft.terms) })}>
                All cases and other days
              </a>
            </p>
          </>
        ) : (
          <p class="note">
            “Show in words and test” tests what you typed on the last {String(TESTED_DAYS)} days.
            Nothing is saved.
          </p>
        ),
      }}
    >
      {valid ? (
        <RuleInWords terms={valid} before={latest?.terms} isTyped />
      ) : (
        <div class="rule in-words">
          <p class="note">Once the fields are filled in, the rule stands here in words.</p>
        </div>
      )}
      {parameters && <Fields members={{ parameters }} path="" />}
      <div class="plan-fields">
        <Fields members={others} path="" />
      </div>
      <ErrorTexts errors={draft.errors.filter(({ pointer }) => pointer === '')} />
    </VersionForm>
  )
  const compute = () => computeBackTest(visit, { rule, ...days, version: draft.terms }, true)
  return { body, computeDeferred: draft.isValid ? compute : undefined }
}
