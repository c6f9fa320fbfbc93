import * as v from 'valibot'
import { validateShape } from '../commission/plans/issues.ts'
import { canonicalJson } from '../platform/validation/canonical-json.ts'
import * as f from '../platform/validation/fields.ts'
import type { Issue } from '../platform/validation/issue.ts'
import { listNames } from '../platform/validation/messages.ts'
import { quote } from '../platform/validation/quote.ts'
import { isObject } from '../platform/validation/record-validator.ts'
import { objectOf } from '../platform/validation/shapes.ts'
import { suggest } from '../platform/validation/suggest.ts'
import type { Kind, Vertical } from './kind.ts'
import { KINDS, kindsOf } from './kinds.ts'
import { MAX_DAYS } from './parameters.ts'
import {
  ALL_AFFILIATES,
  commonMembers,
  RULE_LIMITS,
  RULES_BY_KIND,
  type RuleTerms,
} from './rules.ts'
import type { RuleVersion } from './stored-rules.ts'

const invalid = (issues: Issue[]) => ({ issues, output: null })

/** Validates the members of a rule by its kind. Returns it with all defaults, or its issues. */
export function checkShape(
  body: unknown,
  vertical: Vertical,
): { issues: Issue[]; output: null } | { issues: []; output: RuleTerms } {
  const { length } = new TextEncoder().encode(canonicalJson(body))
  if (length > RULE_LIMITS.bytes) {
    const expected = `at most ${RULE_LIMITS.bytes} bytes of JSON in a rule`
    const instruction = 'Name fewer affiliates, or put several rules.'
    return invalid([
      { pointer: '', code: 'length', expected, received: String(length), instruction },
    ])
  }
  const kind = isObject(body) && Object.hasOwn(body, 'kind') ? Reflect.get(body, 'kind') : undefined
  const kinds = kindsOf(vertical).map((one) => one.kind)
  const schema = RULES_BY_KIND.get(String(kind))
  if (!schema || !kinds.includes(String(kind))) return invalid(checkUnknownKind(body, kinds))
  const { issues, output } = validateShape(schema, body)
  return output ? { issues: [], output } : invalid(issues)
}

/** Returns the issues of a body without a kind that the account can have. Its parameters cannot be checked. */
function checkUnknownKind(body: unknown, kinds: readonly string[]): Issue[] {
  const parameters = v.exactOptional(v.any())
  const schema = objectOf({ kind: f.oneOf(...kinds), ...commonMembers, parameters })
  return validateShape(schema, body).issues.map((issue) => {
    if (issue.pointer !== '/kind') return issue
    const isClose = typeof issue.value === 'string' && suggest(issue.value, kinds) !== null
    const instruction = listNames(kinds)
    return { ...issue, ...(instruction && !isClose && { instruction }) }
  })
}

const kindOf = (terms: RuleTerms): Kind | undefined => KINDS.find(({ kind }) => kind === terms.kind)

/** Returns the issues of a valid shape: those of its meaning, and beside the latest version of the rule. */
export const checkMeaning = (
  terms: RuleTerms,
  latest: Pick<RuleVersion, 'terms'> | undefined,
): Issue[] => [...checkWindow(terms), ...checkKind(terms, latest)]

/** The sources whose records are read for so many days. */
const WINDOWS = ['customers', 'transactions', 'trading-activity', 'activities'] as const

/** Returns an issue if a rule reads the records of more days than the longest window has. */
function checkWindow(terms: RuleTerms): Issue[] {
  const reach = kindOf(terms)?.reach(terms.parameters) ?? {}
  const longest = Math.max(0, ...WINDOWS.map((name) => reach[name] ?? 0))
  if (longest <= MAX_DAYS) return []
  const isDays = Object.hasOwn(Object(terms.parameters), 'days')
  return [
    {
      pointer: isDays ? '/parameters/days' : '/parameters',
      code: 'maximum',
      message: `With these parameters the rule reads the records of ${longest} days; the most are ${MAX_DAYS}.`,
      instruction: 'Choose fewer days.',
    },
  ]
}

function checkKind({ kind }: RuleTerms, latest: Pick<RuleVersion, 'terms'> | undefined): Issue[] {
  if (!latest || latest.terms.kind === kind) return []
  return [
    {
      pointer: '/kind',
      code: 'not_applicable',
      message: `${quote(kind)} differs from the other versions of this rule, which have ${quote(latest.terms.kind)}.`,
      instruction: `Choose ${quote(latest.terms.kind)}, or make a new rule.`,
    },
  ]
}

/** Returns whether a scope includes an affiliate. */
export const isInScope = (
  { affiliates, not_affiliates = [] }: RuleTerms['scope'],
  affiliate: string,
): boolean =>
  (affiliates.includes(ALL_AFFILIATES) || affiliates.includes(affiliate)) &&
  !not_affiliates.includes(affiliate)
