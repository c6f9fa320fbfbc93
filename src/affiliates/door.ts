import type { Context } from 'hono'
import { type AppEnv, admitRequest, rateLimited } from '../platform/auth/authorize.ts'
import {
  type AnswerOf,
  type AnyOperation,
  type Caller,
  type OwnInput,
  perform,
  performFile,
} from '../platform/http/operation.ts'
import { checkCaller, invalidKey, readCaller } from './caller.ts'
import { type MemberSession, memberObjectName } from './member-session.ts'

/** A page of the portal: its session, and the language in which it is shown. */
export interface PortalCall extends Pick<Caller, 'env' | 'waitUntil' | 'once'> {
  readonly session: MemberSession
  readonly language: string
}

/**
 * Admits a session to an operation: counts the call, and returns who calls; what is read of them is read once a page.
 */
async function admit(
  { method }: AnyOperation,
  { session, language, ...page }: PortalCall,
  params: object,
): Promise<Caller> {
  const { env, once } = page
  const admission = await admitRequest(env, memberObjectName(session.id))
  if (!admission) throw invalidKey()
  if (admission.retryAfter > 0) throw rateLimited(admission)
  const { grant } = admission
  const caller = await once(`caller ${session.id}`, () => readCaller(env, grant, language))
  checkCaller(caller, { method, params: { ...params } })
  return { ...page, ...caller }
}

/**
 * Calls an operation for a session of the portal.
 *
 * @throws ApiError that a request would be answered with.
 */
export const callAs = async <O extends AnyOperation>(
  of: O,
  call: PortalCall,
  input: OwnInput<O>,
): Promise<AnswerOf<O>> => perform(of, await admit(of, call, input), input)

/**
 * Responds to a page of the portal with another format of an answer, by its media type.
 *
 * @throws ApiError that a request would be answered with.
 */
export const fileFor = async <O extends AnyOperation>(
  c: Context<AppEnv>,
  of: O,
  call: PortalCall,
  { type, input }: { type: string; input: OwnInput<O> },
): Promise<Response> => performFile(c, of, await admit(of, call, input), { type, input })
