# The program with ONNX Runtime inside, as a user without rights:
#   docker build -t mdmgen . && docker run --rm mdmgen generate --seed 1
# examples/docker/steps.sh runs these steps without Docker.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# The binding of ONNX Runtime is C.
RUN CGO_ENABLED=1 go build -trimpath -ldflags=-s -o /out/mdmgen ./cmd/mdmgen

FROM python:3.12-slim-bookworm AS runtime
# The version that model/ort pins.
RUN python3 -m pip download --no-cache-dir --no-deps --only-binary=:all: --dest /wheel onnxruntime==1.30.0 \
    && python3 -m zipfile -e /wheel/onnxruntime-*.whl /wheel/files \
    && mkdir /out && cp /wheel/files/onnxruntime/capi/libonnxruntime.so.* /out/libonnxruntime.so

FROM debian:bookworm-slim
COPY --from=runtime /out/libonnxruntime.so /usr/local/lib/mdmgen/libonnxruntime.so
COPY --from=build /out/mdmgen /usr/local/bin/mdmgen
ENV MDMGEN_RUNTIME=/usr/local/lib/mdmgen/libonnxruntime.so \
    MDMGEN_CACHE=/tmp/mdmgen
USER 65532:65532
WORKDIR /data
ENTRYPOINT ["mdmgen"]
CMD ["--help"]
