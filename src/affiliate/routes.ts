import { Hono } from 'hono'
import { OPERATIONS } from '../admin/operations.ts'
import type { AppEnv } from '../auth/authorize.ts'
import { noStore } from '../auth/oauth.ts'
import { affiliateStatements } from '../commission/statements/routes.ts'
import { affiliateWhy } from '../commission/why/routes.ts'
import { whyWeight } from '../commission/why/weight.ts'
import { mountFor, weightOf } from '../http/operation.ts'
import { respondWithLedger, respondWithPayouts } from './books.ts'
import { caller } from './caller.ts'
import { orCsv } from './csv.ts'
import { CSV_COLUMNS } from './csv-rows.ts'
import { respondWithCustomers } from './customers.ts'
import { respondWithChangedLink, respondWithLink, respondWithNewLink } from './links.ts'
import { respondWithClicks, respondWithLinks, respondWithSubAffiliates } from './lists.ts'
import { respondWithMe } from './me.ts'
import { respondWithOverview } from './overview.ts'
import { postbacks } from './postbacks.ts'
import { ask, askMore, respondWithQuestion, respondWithQuestions } from './questions.ts'

const BASE = '/affiliate/v1'

/** What requests count as whose answers are computed from records, besides those of accounts. */
const WEIGHTS: Readonly<Record<string, number>> = {
  '/clicks': 10,
  '/customers': 10,
  '/overview': 20,
  '/sub-affiliates': 20,
}

/** What a question counts as: the customer of a pseudonym is searched for among all of the affiliate. */
const QUESTION_WEIGHT = 10

const weightOfOperation = weightOf(OPERATIONS, BASE)

/** Returns how many requests of the limit a request counts as. */
const weightOfRequest = (path: string, method: string): number => {
  const below = path.slice(BASE.length)
  if (below === '/questions' && method === 'POST') return QUESTION_WEIGHT
  return WEIGHTS[below] ?? whyWeight(below) ?? weightOfOperation(path, method)
}

/** Routes for affiliates: what they earn and why. They are answered by the functions of the firm's own routes. */
export const affiliateApi = new Hono<AppEnv>().use(caller(weightOfRequest), noStore)
mountFor(affiliateApi, OPERATIONS, 'affiliate')
for (const path of CSV_COLUMNS.keys()) affiliateApi.use(`/${path}`, orCsv(path))
affiliateApi
  .get('/me', respondWithMe)
  .get('/overview', respondWithOverview)
  .route('/', affiliateStatements)
  .route('/', affiliateWhy)
  .get('/customers', respondWithCustomers)
  .get('/links', respondWithLinks)
  .post('/links', respondWithNewLink)
  .get('/links/:link_id', respondWithLink)
  .patch('/links/:link_id', respondWithChangedLink)
  .get('/clicks', respondWithClicks)
  .route('/postbacks', postbacks)
  .get('/ledger', respondWithLedger)
  .get('/payouts', respondWithPayouts)
  .get('/sub-affiliates', respondWithSubAffiliates)
  .get('/questions', respondWithQuestions)
  .post('/questions', ask)
  .get('/questions/:question_id', respondWithQuestion)
  .post('/questions/:question_id/messages', askMore)
