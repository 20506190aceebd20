// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// server is an HTTP proxy that ends the TLS of every host it is asked for, and
// is STS there. Asked itself, it is an instance's metadata service and a
// container's agent. What it was asked goes to requests, a line of JSON each.
type server struct {
	sts      *sts
	ca       tls.Certificate
	caParsed *x509.Certificate
	mutex    sync.Mutex
	requests *json.Encoder
}

type record struct {
	Host    string            `json:"host"`
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Query   string            `json:"query,omitempty"`
	Headers map[string]string `json:"headers"`
	Form    map[string]string `json:"form,omitempty"`
	Why     string            `json:"why,omitempty"`
}

// The keys that may sign from the start.
var firstKeys = []keys{
	{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""},
	{"AKIAI44QH8DHBEXAMPLE", "je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY", ""},
	{"ASIAENVIRONMENT", "0nlyKnownHere/ForEnvironment+Sessions", "FwoGZXIvYXdzEXAMPLE/+=="},
	{"ASIAINSTANCE", "0nlyKnownHere/ForInstances+AndTests", "FwoG/instance+token=="},
	{"ASIACONTAINER", "0nlyKnownHere/ForContainers+AndTests", "FwoG/container+token=="},
}

func serve(directory string) error {
	who, err := newIssuer(directory)
	if err != nil {
		return err
	}
	known := map[string]keys{}
	for _, key := range firstKeys {
		known[key.AccessKeyId] = key
	}
	log, err := os.Create(filepath.Join(directory, "requests"))
	if err != nil {
		return err
	}
	s := &server{sts: &sts{known: known, sessions: map[string]string{}, issuer: who}, requests: json.NewEncoder(log)}
	if s.ca, s.caParsed, err = makeCA(filepath.Join(directory, "ca.pem")); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	// Its presence says that all the rest is there.
	partial := filepath.Join(directory, "address.partial")
	if err := os.WriteFile(partial, []byte(listener.Addr().String()), 0o644); err != nil {
		return err
	}
	if err := os.Rename(partial, filepath.Join(directory, "address")); err != nil {
		return err
	}
	return http.Serve(listener, s)
}

func (s *server) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method == http.MethodConnect {
		s.tunnel(w, request)
		return
	}
	status, body := platform(request)
	s.write(request, nil, "")
	w.WriteHeader(status)
	io.WriteString(w, body)
}

func (s *server) write(request *http.Request, body []byte, why string) {
	entry := record{Host: request.Host, Method: request.Method, Path: request.URL.Path, Query: request.URL.RawQuery, Headers: map[string]string{}, Why: why}
	for name, values := range request.Header {
		entry.Headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	if form, err := url.ParseQuery(string(body)); err == nil && len(body) > 0 {
		entry.Form = map[string]string{}
		for name, values := range form {
			entry.Form[name] = strings.Join(values, ", ")
		}
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.requests.Encode(entry)
}

func (s *server) tunnel(w http.ResponseWriter, request *http.Request) {
	host, _, err := net.SplitHostPort(request.Host)
	if err != nil {
		http.Error(w, "no host and port", http.StatusBadRequest)
		return
	}
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer connection.Close()
	io.WriteString(connection, "HTTP/1.1 200 Connection established\r\n\r\n")
	certificate, err := s.certificate(host)
	if err != nil {
		return
	}
	secure := tls.Server(connection, &tls.Config{Certificates: []tls.Certificate{certificate}})
	defer secure.Close()
	reader := bufio.NewReader(secure)
	for {
		inner, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		s.converse(secure, inner, host)
	}
}

func (s *server) converse(connection io.Writer, request *http.Request, host string) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	status, reply, why := http.StatusForbidden, "", error(nil)
	if request.Host != host {
		reply = errorReply(request, "InvalidRequest", "the host is not the tunnel's")
	} else {
		status, reply, why = s.sts.answer(request, body)
	}
	text := ""
	if why != nil {
		text = why.Error()
	}
	s.write(request, body, text)
	kind := "text/xml"
	if wantsJSON(request) {
		kind = "application/json"
	}
	response := http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Request: request,
		Header:        http.Header{"Content-Type": {kind}},
		ContentLength: int64(len(reply)), Body: io.NopCloser(strings.NewReader(reply)),
	}
	response.Write(connection)
}

func makeCA(path string) (tls.Certificate, *x509.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "sts-ca"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	data, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	parsed, err := x509.ParseCertificate(data)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: data})
	return tls.Certificate{Certificate: [][]byte{data}, PrivateKey: key}, parsed, os.WriteFile(path, text, 0o644)
}

func (s *server) certificate(host string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		DNSNames: []string{host}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	data, err := x509.CreateCertificate(rand.Reader, template, s.caParsed, &key.PublicKey, s.ca.PrivateKey)
	return tls.Certificate{Certificate: [][]byte{data}, PrivateKey: key}, err
}
