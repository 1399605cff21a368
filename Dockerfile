# The one image of all deployables: `signalbox serve webhook-relay`, `signalbox worker service --loop`, `signalbox migrate`, …

# The Node of package.json, by its exact tag. By digest: `NODE_IMAGE=docker.io/library/node@sha256:… scripts/image.sh`, see docs/security.md
ARG NODE_IMAGE=docker.io/library/node:24.21.0-slim

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && npm cache clean --force
COPY scripts/minify /minify
RUN cd /minify && npm ci --ignore-scripts --no-audit --no-fund
# Nothing reads these of packages at run time: declarations, sources, source maps, documentation, tests, binaries of the runtime Bare, and what only browsers
# or nothing here loads. Licences stay.
RUN find node_modules -type f \( -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.map' -o -name '*.tsbuildinfo' -o -name '*.flow*' -o -name '*.bare' \
    -o -name '*.md' ! -iname '*licen[cs]e*' \) -delete \
  && find node_modules -type d \( -name test -o -name tests -o -name __tests__ \) -prune -exec rm -r {} + \
  && cd node_modules && rm -r swagger-ui-dist/swagger-ui.js swagger-ui-dist/swagger-ui-es-* swagger-ui-dist/swagger-ui-standalone-* \
    world-atlas/countries-* world-atlas/land-50m.json world-atlas/land-110m.json luxon/build/amd luxon/build/global luxon/build/cjs-browser \
    leaflet/dist/leaflet-src* lodash/lodash.js lodash/lodash.min.js lodash/core.js lodash/core.min.js @kubernetes/client-node/dist/gen/types/PromiseAPI.js
# Comments and white space are a third of the code. Names stay, so that stack traces can be read.
RUN for kind in js cjs mjs; do \
    find node_modules -type f -name "*.$kind" ! -name '*.min.js' -print0 | xargs -0 /minify/node_modules/.bin/esbuild --platform=node --minify-whitespace \
      --allow-overwrite --outdir=. --outbase=. --out-extension:.js=.$kind --log-level=error || exit 1; \
  done

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="Signalbox" \
  org.opencontainers.image.description="Webhooks, newsletters, listings, bookmarks and secrets for people who run their own Kubernetes cluster" \
  org.opencontainers.image.licenses="MIT"
# Pods install no packages: without package managers there is less to scan, and less for an intruder to use.
RUN rm -rf /usr/local/lib/node_modules /opt/yarn* /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg
ENV NODE_ENV=production
# A larger block is mapped by itself and goes back to the system when it is freed. Left to glibc, those of large bodies stay in its heap (ADR 9).
ENV MALLOC_MMAP_THRESHOLD_=1048576
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY package.json ./
COPY services services
# In a pod: `kubectl exec … -- signalbox secrets audit`. main.ts has no `#!` of its own: ESLint takes it out, and then asks for the types of all a second time.
RUN printf '#!/bin/sh\nexec node /app/services/main.ts "$@"\n' >/usr/local/bin/signalbox && chmod +x /usr/local/bin/signalbox
ENV NODE_COMPILE_CACHE=/app/compile-cache
RUN mkdir "$NODE_COMPILE_CACHE" && chown 1000:1000 "$NODE_COMPILE_CACHE"
# By number: Kubernetes' runAsNonRoot believes no names. Nothing under /app is written to, so the root may be read-only.
USER 1000:1000
# Node keeps what it compiles by user: as the one that runs it later; another one's start compiles. A start takes half the CPU then, which on a
# busy node is that of the pods that serve meanwhile.
RUN node services/main.ts --version && node --input-type=module --eval "\
  await Promise.all(['command/serve', 'install/migrate', 'install/credentials'].map((name) => import('/app/services/' + name + '.ts'))); \
  const { deployables } = await import('/app/services/command/deployables.ts'); \
  await deployables.load(deployables.names);"
EXPOSE 8080 9090
ENTRYPOINT ["node", "/app/services/main.ts"]
