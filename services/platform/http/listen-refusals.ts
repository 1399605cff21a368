// Refuses what never becomes a request: bytes that are no HTTP, heads that are too large, too slow or name no host, expectations nobody meets.
import { type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { Common, type Problem, toDocument } from '../problem.ts';

export type WordRefusal = (problem: Problem) => { readonly mediaType: string; readonly text: string };

export const wordProblem: WordRefusal = (problem) => ({ mediaType: 'application/problem+json', text: JSON.stringify(toDocument(problem)) });

const problemOf = ({ code }: NodeJS.ErrnoException): Problem => {
  if (code === 'HPE_HEADER_OVERFLOW') return Common.headersTooLarge();
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return Common.tooLarge();
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return Common.timeout({ detail: 'The request did not arrive in time.' });
  return Common.malformed({ detail: 'This is not a request of HTTP/1.1.' });
};

/** node:http keeps the answer that a connection is busy with there; behind one that has begun nothing else may be said. */
const answerInWork = (socket: Duplex): unknown => Reflect.get(socket, '_httpMessage');
const hasBegun = (answer: unknown) => typeof answer === 'object' && answer !== null && Reflect.get(answer, 'headersSent') === true;

export function refuseUnreadable(server: Server, word: WordRefusal): void {
  server.on('clientError', (error, socket) => {
    if (!socket.writable || hasBegun(answerInWork(socket))) return void socket.destroy();
    socket.end(asBytes(problemOf(error), word), () => socket.destroy());
  });
  server.on('checkExpectation', (_request, response) => answer(response, Common.expectation(), word));
}

/** RFC 9112 section 3.2. node:http would do it by itself, without a word. */
export function requireHost(handler: RequestListener, word: WordRefusal): RequestListener {
  return (request, response) => {
    if (request.headers.host !== undefined || request.httpVersion !== '1.1') handler(request, response);
    else answer(response, Common.malformed({ detail: 'The request names no host.' }), word);
  };
}

function answer(response: ServerResponse, problem: Problem, word: WordRefusal): void {
  const { mediaType, text } = word(problem);
  response.writeHead(problem.status, { 'Content-Type': mediaType, 'Content-Length': Buffer.byteLength(text), Connection: 'close' }).end(text);
}

function asBytes(problem: Problem, word: WordRefusal): string {
  const { mediaType, text } = word(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}`,
    `Content-Type: ${mediaType}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${text}`;
}
