import type { Input } from './operation.ts'
import type { AdminRequest, SendRequest } from './request.ts'

interface Step {
  erased: number
  next: string | null
}

/** Repeats all erasures, request after request. Prints how far it is, and from where to continue. */
export async function replayErasures(
  send: SendRequest,
  request: AdminRequest,
  _: Input,
  report: (text: string) => void,
) {
  let erased = 0
  let { query } = request
  for (;;) {
    const step = (await send({ ...request, query })) as Step
    erased += step.erased
    if (step.next === null) return { ...step, erased }
    report(`${erased} customers so far. To continue from here: --from ${step.next}`)
    query = { ...query, cursor: step.next }
  }
}
