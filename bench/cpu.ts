import { readdirSync, readFileSync } from 'node:fs'

/** Milliseconds a tick of /proc lasts: the kernel says 100 a second, whatever its own clock. */
const TICK_MS = 10

/** The processes that this one started; none where there is no /proc. */
export function children(): Set<number> {
  try {
    const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
    return new Set(pids.filter((pid) => fieldsOf(pid)?.[1] === String(process.pid)))
  } catch {
    return new Set()
  }
}

/** User and system time of some processes in milliseconds, or null where nobody tells. */
export function cpuOf(pids: readonly number[]): number | null {
  const ticks = pids.map((pid) => {
    const fields = fieldsOf(pid)
    return fields ? Number(fields[11]) + Number(fields[12]) : 0
  })
  return pids.length === 0 ? null : ticks.reduce((sum, n) => sum + n, 0) * TICK_MS
}

/** @see proc_pid_stat(5): what follows the name, which may hold spaces; `state` comes first. */
function fieldsOf(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}
