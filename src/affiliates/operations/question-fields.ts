import * as f from '../../platform/validation/fields.ts'
import { member, optional, said } from '../../platform/validation/fields.ts'
import { MAX_WORDS } from '../db/affiliate-questions.ts'

// The fields of request bodies about questions of affiliates.

/** The characters of an answer of the team. */
const MAX_ANSWER = 2000

/** What an affiliate writes. */
const words = member(
  f.remarkOf(MAX_WORDS),
  said(
    `What the affiliate asks, of 1 to ${MAX_WORDS} characters.`,
    'Why is this 40 euros less than in September?',
  ),
)

/** The fields of a new question. Exactly one of the first three is sent. */
export const newQuestion = {
  statement: optional(
    f.id,
    said('The statement that it is about.', 'stm_e9a9d1a4aa2d2e4a5b5c5d5e'),
  ),
  line: optional(
    f.id,
    said(
      'The line or adjustment of a statement that it is about.',
      'lin_e9a9d1a4aa2d2e4a5b5c5d5e0a1b2c3d4e5f6a7b',
    ),
  ),
  customer: optional(
    f.id,
    said(
      'The customer that it is about, as `GET /affiliate/v1/customers` names them.',
      'c_3f1d2a9c0b4e5f6a7b8c9d0e',
    ),
  ),
  text: words,
}

/** The fields of more words about a question. */
export const moreWords = { text: words }

/** The fields of an answer. */
export const newAnswer = {
  text: member(
    f.remarkOf(MAX_ANSWER),
    said(
      `The answer, of 1 to ${MAX_ANSWER.toLocaleString('en')} characters. The affiliate reads it.`,
      'One customer was counted twice in September. The line explains it now.',
    ),
  ),
  status: optional(
    f.oneOf('open', 'closed'),
    said('`open` keeps the question open, such as for “We look into it”. Defaults to `closed`.'),
  ),
}
