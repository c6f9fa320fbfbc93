import type { Writable } from 'node:stream'

/** Where progress is shown: in one line of a terminal, in lines elsewhere. */
export type ProgressOutput = Writable & { isTTY?: boolean }

/** Progress on stderr. */
export interface Progress {
  /** Adds records that were answered or lost, and the bytes of the files that they took. */
  settled: (records: number, bytes: number) => void
  /** Shows what delays the run until the next records are settled. */
  note: (text: string) => void
  /** Hides the progress while `run` uses the terminal. */
  suspend: <T>(run: () => Promise<T>) => Promise<T>
  end: () => void
}

const TERMINAL_INTERVAL_MS = 250
const PLAIN_INTERVAL_MS = 3000

/** Shows one line on a terminal, and elsewhere a line every few seconds. */
export function showProgress(totalBytes: number, stderr: ProgressOutput): Progress {
  const started = performance.now()
  const interval = stderr.isTTY ? TERMINAL_INTERVAL_MS : PLAIN_INTERVAL_MS
  let records = 0
  let bytes = 0
  let noted = ''
  let stop = start()

  function start() {
    const view = stderr.isTTY ? onTerminal(totalBytes, stderr) : onPipe(stderr)
    const timer = setInterval(() => view.update(bytes, line()), interval)
    timer.unref()
    return () => {
      clearInterval(timer)
      view.end()
    }
  }

  function line() {
    const seconds = (performance.now() - started) / 1000
    const left = bytes > 0 ? (seconds / bytes) * (totalBytes - bytes) : null
    const parts = [
      `${records.toLocaleString('en')} records`,
      `${Math.round(records / seconds).toLocaleString('en')}/s`,
      left === null ? '' : `${formatDuration(left)} left`,
      noted,
    ]
    return parts.filter((part) => part !== '').join(' · ')
  }

  return {
    settled(count, done) {
      records += count
      bytes += done
      noted = ''
    },
    note(text) {
      noted = text
    },
    async suspend(run) {
      stop()
      try {
        return await run()
      } finally {
        stop = start()
      }
    },
    end: () => stop(),
  }
}

/** Clears the line of the terminal, and goes to its beginning. */
const CLEAR = '\r\x1b[K'

const onTerminal = (totalBytes: number, output: ProgressOutput) => ({
  update(bytes: number, line: string) {
    const percent = totalBytes > 0 ? Math.floor((100 * bytes) / totalBytes) : 0
    output.write(`${CLEAR}${percent} % · ${line}`)
  },
  end: () => void output.write(CLEAR),
})

const onPipe = (output: ProgressOutput) => ({
  update: (_: number, line: string) => void output.write(`${line}\n`),
  end: () => {},
})

/** Formats seconds: "1.5 s", "42 s", "3 min 20 s", "2 h 5 min". */
export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds)
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
}
