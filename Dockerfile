# Longshore with everything it needs. Not root, nothing writable but /data and /tmp:
#
#   docker build -t longshore .
#   docker run --init --read-only --tmpfs /tmp -v longshore:/data -p 127.0.0.1:8000:8000 longshore
#
# The first owner's credentials are in /data/first-start.txt. Both linux/amd64 and linux/arm64 (docker buildx build
# --platform). A release pins NODE_IMAGE by its digest.
ARG NODE_IMAGE=node:22-bookworm-slim

# The build is the same for every platform, so it runs on the builder's own.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY web/package.json ./web/
COPY scripts/api-types/package.json ./scripts/api-types/
RUN npm ci
COPY bin ./bin
COPY docs/openapi.json ./docs/
COPY scripts ./scripts
COPY src ./src
COPY web ./web
RUN npm run build && find dist -name '*.map' -delete

FROM ${NODE_IMAGE} AS packages
WORKDIR /packages
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM ${NODE_IMAGE}
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8000 DATA_DIR=/data
RUN install -d -o node -g node -m 0700 /data
WORKDIR /app
COPY --from=packages /packages/node_modules ./node_modules
COPY package.json LICENSE ./
COPY bin ./bin
COPY --from=build /build/dist ./dist
USER node
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/_readyz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/bin/longshore.cjs"]
CMD ["serve"]
