import type { Context } from 'hono'
import type * as v from 'valibot'
import { type AppEnv, admitRequest, rateLimited } from '../platform/auth/authorize.ts'
import { ApiError } from '../platform/errors.ts'
import {
  type Answer,
  type AnyOperation,
  type Call,
  fileAs,
  type Operation,
  type OwnInput,
  performAs,
  type ReadCall,
} from '../platform/http/operation.ts'
import { type AnswerSchema, isFor } from '../platform/http/operation-words.ts'
import { type Caller, checkCaller, invalidKey, readCaller } from './caller.ts'
import { type MemberSession, memberObjectName } from './member-session.ts'

/** A page of the portal: its session, and the language in which it is shown. */
export interface PortalCall extends Call {
  readonly session: MemberSession
  readonly language: string
}

/** Counts a call of a session, and returns who calls; what is read of them is read once a page. */
async function admit(call: PortalCall): Promise<Caller> {
  const { env, session, language } = call
  const admission = await admitRequest(env, memberObjectName(session.id))
  if (!admission) throw invalidKey()
  if (admission.retryAfter > 0) throw rateLimited(admission)
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
  return performAs(of, await admitTo(of, call, input), input)
}

/**
 * Responds to a page of the portal with another format of an answer, by its media type.
 *
 * @throws ApiError that a request would be answered with.
 */
export async function fileFor<P extends v.ObjectEntries, A extends AnswerSchema>(
  c: Context<AppEnv>,
  of: Operation<P, NoBody, A, ReadCall>,
  call: PortalCall,
  { type, input }: { type: string; input: OwnInput<Operation<P, NoBody, A, ReadCall>> },
): Promise<Response> {
  const admitted = await admitTo(of, call, input)
  c.set('affiliate', admitted.affiliate)
  return fileAs(c, of, admitted, { type, members: input })
}

type NoBody = Record<never, never>

/** Admits a session to an operation, and returns the call. */
async function admitTo(
  of: AnyOperation,
  call: PortalCall,
  params: Readonly<Record<string, unknown>>,
) {
  if (!isFor(of, 'affiliate')) throw new ApiError('not_found')
  const caller = await admit(call)
  checkCaller(caller, { method: of.method, params })
  const { env, waitUntil, once } = call
  return { env, waitUntil, once, ...caller }
}
