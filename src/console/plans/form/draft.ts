import { checkPlan } from '../../../commission/plans/check-plan.ts'
import type { Vocabulary } from '../../../commission/plans/vocabulary.ts'
import { readErrors } from '../../../pages/api-errors.ts'
import type { FieldError, Values, Visit } from '../../../pages/base/page.ts'
import { ApiError } from '../../../platform/errors.ts'
import { validationFailed } from '../../../platform/http/read-fields.ts'
import { type TypedTerms, termsOf, withoutRow, withRow } from './form.ts'

// What somebody types of a plan before it is saved.

/** Returns what the form of a version shows again for one of its buttons; null for the button that saves. */
export function redrawVersion(values: Values): Values | null {
  const [does, path = '', form = ''] = values('do').split(' ')
  if (does === 'show') return values
  if (does === 'add') return withRow(values, path, form)
  if (does === 'choose') return (name) => (name === `${path}@` ? form : values(name))
  if (does !== 'remove') return null
  const at = path.lastIndexOf('/')
  return withoutRow(values, path.slice(0, at), Number(path.slice(at + 1)))
}

/** Returns the id of a plan that is made from its name: `ib-per-lot` for `IB per lot`. */
const idOf = (name: unknown): string =>
  String(name ?? '')
    .toLowerCase()
    .replace(/[^a-z\d]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 63)

/**
 * Returns the terms that were typed.
 *
 * @throws ApiError `validation_failed` if something cannot be understood.
 */
export function understood({ terms, problems }: TypedTerms): TypedTerms['terms'] {
  if (problems.length === 0) return terms
  throw new ApiError('validation_failed', { detail: 'Nothing was saved.', errors: [...problems] })
}

/**
 * Returns what saves a plan that was typed. The id of a new one is made from its name if it has none.
 *
 * @throws ApiError `validation_failed` if something cannot be understood.
 */
export function putInput(values: Values, { params }: Visit) {
  const terms = understood(termsOf(values))
  return { plan: params.plan ?? (values('plan').trim() || idOf(terms.name)), terms }
}

/** A version that is stored, as far as a new one is compared with it. */
type StoredVersion = Parameters<typeof checkPlan>[1]['versions'][number]

/** Checks terms as the administration API does. */
export function checkTerms(
  terms: unknown,
  vocabulary: Vocabulary,
  versions: readonly StoredVersion[],
): FieldError[] {
  const { issues } = checkPlan(terms, { vocabulary, versions })
  return issues.length === 0 ? [] : readErrors(validationFailed(issues))
}
