/** The time between two checks, in milliseconds. */
const TICK_MS = 1000

/** Waits for `promise`, and meanwhile calls `check` every second, which may throw. */
export async function waitAndCheck<T>(promise: Promise<T>, check: () => void): Promise<T> {
  let settled: { value: T } | undefined
  const settling = promise.then((value) => {
    settled = { value }
  })
  settling.catch(() => {}) // Nothing awaits it once `check` has thrown.
  for (;;) {
    await waitOrTick(settling)
    if (settled) return settled.value
    check()
  }
}

/** Waits until `promise` settles, or for `TICK_MS`. */
async function waitOrTick(promise: Promise<unknown>): Promise<void> {
  // Not `scheduler.wait`: its timer costs eight times as much to cancel.
  let timer: number | null = null
  const tick = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, TICK_MS)
  })
  await Promise.race([promise, tick]).finally(() => clearTimeout(timer))
}
