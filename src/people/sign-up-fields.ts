import * as v from 'valibot'
import * as f from '../platform/validation/fields.ts'
import { member, nullable, optional, said } from '../platform/validation/fields.ts'
import { byMember, objectOf } from '../platform/validation/shapes.ts'

// The setting `sign_up` of an account: whether, and how, affiliates apply by themselves.

const MAX_QUESTIONS = 5

/** A page of terms. It is shown as a link, and never fetched. */
const page = v.pipe(
  f.text,
  v.check(
    (text) => /^https:\/\/[^\s\p{Cc}]+$/u.test(text) && URL.canParse(text),
    'pattern an https:// URL',
  ),
)

const version = member(
  f.slug,
  said('Names the terms: changed terms have a new version.', '2026-12'),
)
const termsFields = {
  version,
  url: member(page, said('The page that has the terms.', 'https://acme.example/partner-terms')),
  text: member(f.remarkOf(20_000), said('The terms.', 'We pay by the 15th of each month.')),
}
const { url, text } = termsFields

/** The members of the setting. */
export const signUpFields = {
  open: optional(
    v.boolean(),
    said('Whether anybody can apply at `/portal/{account}/join`. It needs terms.', true),
  ),
  plan: v.optional(
    nullable(
      f.slug,
      said(
        'The plan of an affiliate whose application is approved. Null: the one that holds for all.',
        'standard-ib',
      ),
    ),
  ),
  questions: optional(
    v.pipe(
      v.array(f.labelOf(200), 'type array'),
      v.maxLength(MAX_QUESTIONS, `length at most ${MAX_QUESTIONS} questions`),
    ),
    said('What applicants are asked besides, each of at most 200 characters.', [
      'Which countries are your visitors from?',
    ]),
  ),
  terms: optional(
    byMember({ url: objectOf({ version, url }), text: objectOf({ version, text }) }),
    said('What applicants accept. The version is kept with each application.'),
  ),
}

const { terms: _, ...others } = signUpFields

/** The members as a form has them: those of the terms stand beside the others. */
export const signUpForm = {
  ...others,
  terms_version: v.optional(termsFields.version),
  terms_url: v.optional(termsFields.url),
  terms_text: v.optional(termsFields.text),
}
