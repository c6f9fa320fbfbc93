import type * as v from 'valibot'
import { admitRequest, rateLimited } from '../auth/authorize.ts'
import { ApiError } from '../errors.ts'
import {
  type Answer,
  type Call,
  type Operation,
  type OwnInput,
  performAs,
  type ReadCall,
} from '../http/operation.ts'
import { type AnswerSchema, isFor } from '../http/operation-words.ts'
import { type Caller, checkCaller, invalidKey, readCaller } from './caller.ts'
import { memberObjectName, type PortalSession } from './member-session.ts'

/** A page of the portal: its session, and the language in which it is shown. */
export interface PortalCall extends Call {
  readonly session: PortalSession
  readonly language: string
}

/** Counts a call of a session, and returns who calls; what is read of them is read once a page. */
async function admit(call: PortalCall, weight: number): Promise<Caller> {
  const { env, session, language } = call
  const admission = await admitRequest(env, memberObjectName(session.id), weight)
  if (!admission) throw invalidKey()
  if (admission.retryAfter > 0) throw rateLimited(admission, weight)
  const { grant } = admission
  return call.once(`caller ${session.id}`, () => readCaller(env, grant, language))
}

/**
 * Calls an operation for a session of the portal: the door inside the Worker. What a request must pass is checked
 * here, too.
 *
 * @throws ApiError that a request would be answered with.
 */
export async function callAs<
  P extends v.ObjectEntries,
  B extends v.ObjectEntries,
  A extends AnswerSchema,
  C extends ReadCall,
>(
  of: Operation<P, B, A, C>,
  call: PortalCall,
  input: OwnInput<Operation<P, B, A, C>>,
): Promise<Answer<A>> {
  if (!isFor(of, 'affiliate')) throw new ApiError('not_found')
  const members: Readonly<Record<string, unknown>> = input
  const caller = await admit(call, of.weight ?? 1)
  checkCaller(caller, { method: of.method, params: members })
  const { env, waitUntil, once } = call
  return performAs(of, { env, waitUntil, once, ...caller }, members)
}
