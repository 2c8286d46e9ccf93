// Traces by the OpenTelemetry API: requests, verbs, statements, applied changes and webhook attempts, if an SDK is registered.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import {
  type Attributes,
  context,
  propagation,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'

/**
 * Whether an SDK was registered before the service was loaded (`node --import`). Without one, nothing is measured and nothing
 * is stored, so that the API's own calls cost nothing on the paths of requests.
 */
export const TRACED = isRegistered()

const tracer = trace.getTracer('mintmark')

function isRegistered(): boolean {
  const provider = trace.getTracerProvider()
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegate() !== new ProxyTracerProvider().getDelegate()
}

interface SpanOptions {
  kind?: SpanKind
  attributes?: Attributes
  /** `traceparent` of the span that caused this one; the active span by default */
  cause?: string | null
  /** `traceparent` of further causes */
  links?: readonly string[]
}

/** Runs `work` in a span of this name, which ends with it and records its error. Call it only if `TRACED`. */
export function inSpan<Result>(name: string, { cause, links = [], ...options }: SpanOptions, work: (span: Span) => Result): Result {
  const parent = cause ? contextOf(cause) : context.active()
  const linked = links.flatMap((link) => {
    const spanContext = trace.getSpanContext(contextOf(link))
    return spanContext ? [{ context: spanContext }] : []
  })
  const span = tracer.startSpan(name, { ...options, links: linked }, parent)
  return context.with(trace.setSpan(parent, span), () => endWith(span, () => work(span)))
}

function endWith<Result>(span: Span, work: () => Result): Result {
  try {
    const result = work()
    if (!(result instanceof Promise)) {
      span.end()
      return result
    }
    return result.then(
      (value: unknown) => {
        span.end()
        return value
      },
      (error: unknown) => {
        endFailed(span, error)
        throw error
      },
    ) as Result
  } catch (error) {
    endFailed(span, error)
    throw error
  }
}

function endFailed(span: Span, error: unknown): void {
  const { name, code } = error as { name?: string; code?: string }
  span.setAttribute('error.type', code ?? name ?? 'unknown')
  span.setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}

/** The active span as a W3C `traceparent`; null without an SDK, and for a span that is not recorded. */
export function traceparent(): string | null {
  const span = TRACED ? trace.getActiveSpan() : undefined
  if (!span?.isRecording()) return null
  const headers: Record<string, string> = {}
  propagation.inject(context.active(), headers)
  return headers.traceparent ?? null
}

function contextOf(cause: string) {
  return propagation.extract(ROOT_CONTEXT, { traceparent: cause })
}

const SERVER_ERROR = 500

/** Gives each request of a listener a span, which continues the caller's trace (`traceparent`). */
export function traceRequests(server: Server): void {
  if (!TRACED) return
  const listeners = server.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[]
  server.removeAllListeners('request')
  server.on('request', (request, response) => {
    const parent = propagation.extract(ROOT_CONTEXT, request.headers)
    // The path is left out: that of a shared collection is a secret.
    const attributes = { 'http.request.method': request.method }
    const span = tracer.startSpan(request.method!, { kind: SpanKind.SERVER, attributes }, parent)
    response.once('close', () => {
      span.setAttribute('http.response.status_code', response.statusCode)
      if (response.statusCode >= SERVER_ERROR) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    })
    context.with(trace.setSpan(parent, span), () => {
      for (const listener of listeners) listener.call(server, request, response)
    })
  })
}

/** Names the span of the current request after its route. */
export function nameRequest(method: string, route: string | undefined, requestId: string): void {
  const span = TRACED ? trace.getActiveSpan() : undefined
  if (!span) return
  if (route !== undefined) span.updateName(`${method} ${route}`).setAttribute('http.route', route)
  span.setAttribute('mintmark.request_id', requestId)
}

/**
 * Runs a statement in a span, with the span as a comment in its text, so that the server's log and its list of activities name the
 * trace. Statements outside of recorded spans run as they are.
 * @param run with the text to send, and whether it is unique and should therefore not be prepared
 */
export function tracedStatement<Result>(sql: string, run: (text: string, unique: boolean) => Promise<Result>): Promise<Result> {
  if (!TRACED || !trace.getActiveSpan()?.isRecording()) return run(sql, false)
  const [operation = ''] = /^\s*\w+/.exec(sql) ?? []
  const attributes = { 'db.system.name': 'postgresql', 'db.query.text': sql }
  return inSpan(operation.trim().toLowerCase(), { kind: SpanKind.CLIENT, attributes }, () => run(`${sql} /*traceparent='${traceparent()}'*/`, true))
}
